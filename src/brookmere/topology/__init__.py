"""Holds the logical graph: nodes, names, validation, and the forms in which it is shown."""
