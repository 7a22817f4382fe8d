"""Compares Brookmere with Spark's own streaming: `python -m benchmarks`."""
