"""Avro: its binary form in Python, and its schemas as types of Spark."""
