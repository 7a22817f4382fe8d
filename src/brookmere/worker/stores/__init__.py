"""Stores with the methods of Kafka Streams: caches over requests to the JVM, which keeps the rows."""
