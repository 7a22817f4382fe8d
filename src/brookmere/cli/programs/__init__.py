"""Finding, loading and supervising the program or application that a command names."""
