"""Runs the nodes of a stage on one task."""
