"""Measures the kernel from rows in memory to a sink that keeps nothing, beside Spark's own aggregation."""

from benchmarks.kernel.run import run

__all__ = ["run"]
