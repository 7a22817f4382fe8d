"""Keeps topics as logs in a directory, and reads and writes them."""
