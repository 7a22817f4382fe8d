"""Schemas and the three formats they are written in."""
