"""Messages between the JVM and a worker process, and the code they carry."""
