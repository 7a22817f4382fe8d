"""Python code inside a stream, beside other stream processors for Python."""
