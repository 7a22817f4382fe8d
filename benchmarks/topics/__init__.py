"""Measures the path from topic to topic, compared with PySpark on the same topics and a plain Python loop."""

from benchmarks.topics.run import run

__all__ = ["run"]
