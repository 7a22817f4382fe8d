"""Measures how fast stores answer, in Python and over HTTP, and what that costs a running application."""
