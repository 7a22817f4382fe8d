"""Validation of the arguments that the DSL methods share."""
