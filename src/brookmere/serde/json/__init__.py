"""JSON: by a schema of Spark, by a JSON Schema, and exactly as Spark itself writes it."""
