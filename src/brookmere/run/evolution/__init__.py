"""Compares a program with the version that ran before it, and migrates its state."""
