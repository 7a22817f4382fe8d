"""The same programs for other libraries, each in its own environment, without any of our code."""
