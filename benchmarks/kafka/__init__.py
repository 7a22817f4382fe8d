"""Measures programs from Kafka to Kafka: Brookmere beside Kafka Streams and PySpark."""
