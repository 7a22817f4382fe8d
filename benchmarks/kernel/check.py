"""Checks the output of a batch against facts that are known from the feed."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks import measure
from benchmarks.failures import WrongResultError
from benchmarks.kernel.cases import MODULUS, Case
from benchmarks.kernel.data import Feed, quotient


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about the output of a batch."""

    rows: int
    keys: int
    counts: int
    """The sum of the last count of each key."""
    checksum: int
    """A checksum over every key, its last count, and how often it was emitted."""


def found(case: Case, output: DataFrame) -> Facts:
    """Return the facts about a query's output in a batch. Reads it once."""
    if case.store is None and case.shape == "count":
        columns = (F.col("text").alias("key"), F.col("count").alias("n"))
    elif case.shape in ("source", "stage 0", "pass"):
        columns = (F.col("key").cast("string").alias("key"), F.lit(1).alias("n"))
    elif case.shape == "chain":
        columns = (as_long("key").cast("string").alias("key"), as_long("value").alias("n"))
    else:
        columns = (F.col("key").cast("string").alias("key"), as_long("value").alias("n"))
    return facts(
        output.select(*columns).groupBy("key").agg(F.max("n").alias("n"), F.count("*").alias("rows"))
    )


def expected(case: Case, feed: Feed, batch: int, session: SparkSession) -> Facts:
    """Return the expected facts of batch number `batch`, computed without counting record by record."""
    number = F.col("id")
    records = session.range(feed.rows * (batch + 1)).select(
        feed.key(number).alias("key"),
        feed.occurrence(number).alias("n"),
        quotient(number, feed.rows).alias("batch"),
    )
    if case.shape in ("source", "stage 0", "pass"):
        records = records.withColumn("n", F.lit(1))
    elif case.emit == "last":
        records = records.groupBy("key", "batch").agg(F.max("n").alias("n"))
    now = F.col("batch") == batch
    if case.shape != "chain":
        last = records.where(now).groupBy("key").agg(F.max("n").alias("n"), F.count("*").alias("rows"))
        return facts(last)
    counted = records.groupBy((F.col("n") % MODULUS).cast("string").alias("key")).agg(
        F.count("*").alias("n"), F.count_if(now).alias("rows")
    )
    written = counted.where("rows > 0")
    return facts(written.withColumn("rows", F.lit(1)) if case.emit == "last" else written)


class Checker:
    """Checks runs, and computes the expected facts once for all rounds."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        self._right: dict[tuple[str, str, Feed, int], Facts] = {}

    def check(self, case: Case, feed: Feed, run: measure.Run) -> None:
        """Raise an error for wrong results."""
        batch, actual = run.checked
        known = (case.shape, case.emit, feed, batch)
        if known not in self._right:
            self._right[known] = expected(case, feed, batch, self._session)
        compare(case, feed, batch, actual, self._right[known])


def compare(case: measure.Case, feed: measure.Feed, batch: int, actual: object, right: object) -> None:
    """Raise an error for wrong results."""
    if actual != right:
        raise WrongResultError(
            f"{case.name} at {feed.keys} keys produced wrong results in batch {batch}, "
            f"so its speed means nothing: found {actual}, expected {right}"
        )


def facts(per_key: DataFrame) -> Facts:
    """Return the facts of rows with a key, its last count, and how often it was emitted."""
    # A remainder keeps the sum of the hashes inside a long.
    code = F.pmod(
        F.xxhash64("key", F.col("n").cast("bigint"), F.col("rows").cast("bigint")), F.lit(2**31 - 1)
    )
    row = per_key.agg(F.sum("rows"), F.count("*"), F.sum("n"), F.sum(code)).collect()[0]
    return Facts(*[int(value or 0) for value in row])


def as_long(name: str | Column) -> Column:
    """Return the number in Kafka's 8 bytes."""
    return F.conv(F.hex(name), 16, 10).cast("bigint")
