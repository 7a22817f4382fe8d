"""Turns what the JVM keeps of a task into stores with Kafka Streams' methods: caches over requests."""
