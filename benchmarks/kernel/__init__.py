"""Measures the kernel from rows in memory to a discarding sink, compared with Spark's own aggregation."""

from benchmarks.kernel.run import run

__all__ = ["run"]
