"""Python code inside a stream, compared with other Python stream processors."""
