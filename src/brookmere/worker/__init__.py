"""Runs the Python nodes of a program in a process of its own, beside the kernel that keeps their state."""
