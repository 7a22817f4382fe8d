"""Runs programs with the real Kafka Streams: their Scala sources, the build, and the commands."""

from benchmarks.kafka.streams.building import class_path
from benchmarks.kafka.streams.commands import keys_command, run_command

__all__ = ["class_path", "keys_command", "run_command"]
