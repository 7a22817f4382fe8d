"""Dataclasses and lists of fields, and the Spark types they describe."""
