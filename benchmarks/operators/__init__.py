"""Measures windows and joins from rows in memory to a sink that keeps nothing, beside Spark's own."""

from benchmarks.operators.run import run

__all__ = ["run"]
