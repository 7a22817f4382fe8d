"""The process that runs the Python nodes of a program; the kernel keeps their state."""
