"""The kernel: Scala sources that run a topology inside Spark, their build, and the Java they need."""
