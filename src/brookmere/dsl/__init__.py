"""Holds what the user writes: handles whose methods add one step each to the program's graph."""
