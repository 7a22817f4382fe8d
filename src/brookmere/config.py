"""Turns settings, as Kafka Streams names them, into typed values."""
