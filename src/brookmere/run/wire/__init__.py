"""Serdes as Columns: bytes to values and values to bytes, checked against schemas."""
