"""The Spark query of a program: session, transports, frames, checkpoints and failures."""
