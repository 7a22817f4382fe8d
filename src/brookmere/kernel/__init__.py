"""Turns the Scala sources beside this file into the jar that runs a topology inside Spark."""
