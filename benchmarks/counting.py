"""The counting query as you would write it with PySpark alone."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def counted(rows: DataFrame, *, words: bool) -> DataFrame:
    """Count the words of the values, or the keys."""
    if words:
        words = F.explode(F.split(F.lower(F.col("value").cast("string")), " "))
        keys = rows.select(words.alias("key"))
    else:
        keys = rows.select(F.col("key").cast("string").alias("key"))
    # As text, Spark's usual way: it cannot cast a number to the bytes that Kafka writes.
    return keys.groupBy("key").count().select("key", F.col("count").cast("string").alias("value"))
