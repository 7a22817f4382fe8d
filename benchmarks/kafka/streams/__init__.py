"""The programs for Kafka Streams itself: Scala sources, build and commands."""

from benchmarks.kafka.streams.building import class_path
from benchmarks.kafka.streams.commands import keys_command, run_command

__all__ = ["class_path", "keys_command", "run_command"]
