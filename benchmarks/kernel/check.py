"""Turns the output of a batch into facts, and a feed into the facts that output must have."""

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
    """What is known of the output of a batch."""

    rows: int
    keys: int
    counts: int
    """The sum of the last count of each key."""
    checksum: int
    """Of every key, its last count, and how often it came out."""


def found(case: Case, output: DataFrame) -> Facts:
    """Return the facts of what a query wrote in a batch. Reads it once."""
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
    """Return the facts of batch number `batch`, computed without counting one record after the other."""
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
    """Checks runs, and computes what is right once for all rounds."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        self._right: dict[tuple[str, str, Feed, int], Facts] = {}

    def check(self, case: Case, feed: Feed, run: measure.Run) -> None:
        """Refuse wrong results."""
        batch, actual = run.checked
        known = (case.shape, case.emit, feed, batch)
        if known not in self._right:
            self._right[known] = expected(case, feed, batch, self._session)
        compare(case, feed, batch, actual, self._right[known])


def compare(case: measure.Case, feed: measure.Feed, batch: int, actual: object, right: object) -> None:
    """Refuse wrong results."""
    if actual != right:
        raise WrongResultError(
            f"{case.name} at {feed.keys} keys gave wrong results in batch {batch}, "
            f"so its speed means nothing: found {actual}, expected {right}"
        )


def facts(per_key: DataFrame) -> Facts:
    """Return the facts of rows with a key, its last count, and how often it came out."""
    # A remainder keeps the sum of the hashes inside a long.
    code = F.pmod(
        F.xxhash64("key", F.col("n").cast("bigint"), F.col("rows").cast("bigint")), F.lit(2**31 - 1)
    )
    row = per_key.agg(F.sum("rows"), F.count("*"), F.sum("n"), F.sum(code)).collect()[0]
    return Facts(*[int(value or 0) for value in row])


def as_long(name: str | Column) -> Column:
    """Return the number that Kafka's 8 bytes stand for."""
    return F.conv(F.hex(name), 16, 10).cast("bigint")
