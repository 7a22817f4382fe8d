"""Conversions between values on the wire and Python values."""
