"""Keeps schemas: a client of a schema registry, and a small registry of its own."""
