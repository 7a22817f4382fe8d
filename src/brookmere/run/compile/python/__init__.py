"""Compiles nodes with Python code into the work of worker processes."""
