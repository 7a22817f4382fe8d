"""What user code sees: processors and their context."""
