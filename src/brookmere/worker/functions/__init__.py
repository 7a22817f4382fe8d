"""Runs the user's Python functions over records."""
