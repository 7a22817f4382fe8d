"""Protobuf: messages in Python, and their descriptors as types of Spark."""
