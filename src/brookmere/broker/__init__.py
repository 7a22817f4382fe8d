"""Starts and stops a real Kafka on this machine, for development and tests."""
