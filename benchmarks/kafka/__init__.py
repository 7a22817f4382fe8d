"""Measures programs from Kafka to Kafka: Brookmere beside Kafka Streams and PySpark."""

from benchmarks.kafka.run import run

__all__ = ["run"]
