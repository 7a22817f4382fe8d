"""User functions: lambdas over Columns, Python functions and their signatures."""
