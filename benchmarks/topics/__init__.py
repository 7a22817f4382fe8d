"""Measures the way from topic to topic, beside native PySpark on the same topics and a plain Python loop."""

from benchmarks.topics.run import run

__all__ = ["run"]
