"""Output to and input from the terminal."""
