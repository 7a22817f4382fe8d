"""Kafka's own formats for text, bytes, numbers and booleans; and Python's pickle."""
