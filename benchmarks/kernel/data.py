"""Generated records, the same for every engine.

Record `n` has the key of `n` modulo the number of keys, shuffled, so the keys of a batch are spread over all
keys, and any run of records as long as the number of keys contains each key once. What a count must produce
is therefore known without counting: record `n` is occurrence `n / keys + 1` of its key.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, gcd

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

TOPIC = "in"
PARTITIONS = 2
START = 1_700_000_000_000


@dataclass(frozen=True, slots=True)
class Feed:
    """A stream of `rows` records per micro-batch over `keys` keys."""

    keys: int
    rows: int
    source_partitions: int = PARTITIONS

    def stream(self, session: SparkSession) -> DataFrame:
        """Return the records as the columns of a topic, with the key as an additional text column."""
        source = numbers(session, self.rows, self.source_partitions)
        # The source distributes its values one by one, so a value's partition here is the one it arrives in.
        number = F.col("value")
        return source.select(
            self.key(number).alias("text"),
            (number % PARTITIONS).cast("int").alias("partition"),
            quotient(number, PARTITIONS).alias("offset"),
            F.unix_millis("timestamp").alias("timestamp"),
        ).select(
            "text",
            F.col("text").cast("binary").alias("key"),
            F.col("text").cast("binary").alias("value"),
            "partition",
            "offset",
            "timestamp",
        )

    @property
    def fill(self) -> int:
        """The number of batches after which the state knows every key."""
        return ceil(self.keys / self.rows) if self.rows > 1 else 0

    def key(self, number: Column) -> Column:
        """Return the key of record `number`."""
        return F.concat(F.lit("k"), shuffled(number % self.keys, self.keys).cast("string"))

    def occurrence(self, number: Column) -> Column:
        """Return how many records up to and including `number` have the key of record `number`."""
        return quotient(number, self.keys) + 1


def numbers(session: SparkSession, rows: int, partitions: int = PARTITIONS) -> DataFrame:
    """Return a stream of the numbers from 0, `rows` in every batch, generated in memory."""
    return (
        session.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", rows)
        .option("numPartitions", partitions)
        .option("startTimestamp", START)
        .option("advanceMillisPerBatch", 1000)
        .load()
    )


def shuffled(place: Column, size: int) -> Column:
    """Return the place of a number below `size` after shuffling all of them."""
    factor, square = permutation(size)
    return (place * factor + place * place * square) % size


def permutation(size: int) -> tuple[int, int]:
    """Return a and b with which a*x + b*x*x modulo `size` shuffles 0 to `size` - 1.

    That needs an a that has no common factor with `size`, and a b that every prime factor of `size` divides.
    """
    factor = 435_761 % size or 1
    while gcd(factor, size) > 1:
        factor += 1
    square, left, prime = 1, size, 2
    while left > 1:
        if left % prime == 0:
            square *= prime
            while left % prime == 0:
                left //= prime
        prime += 1
    return factor, square % size


def quotient(number: Column, divisor: int) -> Column:
    """Return the quotient of an integer division."""
    return F.call_function("div", number, F.lit(divisor))
