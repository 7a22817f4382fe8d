"""A small schema registry for development and tests."""
