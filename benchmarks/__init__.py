"""Measures Brookmere beside Spark's own streaming: `python -m benchmarks`."""
