"""Calls the user's lambdas and explains what is wrong with their Columns."""
