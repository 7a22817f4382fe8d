"""Measures programs from Kafka to Kafka: Brookmere, Kafka Streams and PySpark."""
