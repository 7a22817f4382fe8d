"""Measures windows and joins from rows in memory to a discarding sink, compared with Spark's own."""

from benchmarks.operators.run import run

__all__ = ["run"]
