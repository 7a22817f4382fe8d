"""Joins: the steps that each kind of join adds to the graph."""
