"""Measures Brookmere beside Spark's own aggregation: `python -m benchmarks`."""
