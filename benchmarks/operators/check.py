"""Checks the output of a batch against facts that are known from the feed."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks.kernel import check as kernel
from benchmarks.kernel.check import Facts, as_long, compare, facts
from benchmarks.kernel.data import Feed as KernelFeed
from benchmarks.kernel.data import quotient
from benchmarks.measure import Run
from benchmarks.operators.cases import Case
from benchmarks.operators.data import (
    GRACE_MS,
    HOP_MS,
    LEFT,
    RIGHT,
    SIZE_MS,
    SPAN_MS,
    START_MS,
    VERSIONS,
    Feed,
    matches,
)

_NEAR = 0.02
"""How much batches differ if they do not end at the same records."""


@dataclass(frozen=True, slots=True)
class Found:
    """Facts about the output of a batch."""

    facts: Facts
    unmatched: int = 0
    """Of a left join."""


class Checker:
    """Checks runs, and computes the expected facts once for all rounds."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        self._right: dict[tuple[Case, Feed, int], Found] = {}

    def check(self, case: Case, feed: Feed, run: Run) -> None:
        """Raise an error for wrong results."""
        batch, actual = run.checked
        known = (case, feed, batch)
        if known not in self._right:
            self._right[known] = expected(case, feed, batch, self._session)
        right = self._right[known]
        if case.shape == "left" and self._is_near(case, feed, run, actual, right):
            right = Found(right.facts, actual.unmatched)
        compare(case, feed, batch, actual, right)

    def _is_near(self, case: Case, feed: Feed, run: Run, actual: Found, right: Found) -> bool:
        """Return whether about the right number of unmatched left records was emitted.

        Spark's watermark advances with the batch, so each batch has equally many. Kafka Streams looks for
        them only when the last one that waited at the previous check has waited long enough; so they come in
        bursts, and only the total over all batches is meaningful.
        """
        if case.store is None:
            return abs(actual.unmatched - right.unmatched) <= _NEAR * right.unmatched
        batches = run.checked[0] + 1
        number = F.col("id")
        ends = {topic: rows * batches for topic, rows in feed.sizes.items()}
        pairs = self._session.range(feed.shift, ends[RIGHT]).where(matches(number)).count()
        alone = self._session.range(ends[LEFT]).where(~matches(number + feed.shift))
        wait = 2 * (feed.within_ms + GRACE_MS)
        due = alone.where(feed.time(number) < START_MS + SPAN_MS * batches - wait)
        return due.count() <= run.written - pairs <= alone.count()


def found(case: Case, output: DataFrame) -> Found:
    """Return the facts about a query's output in a batch. Reads it once."""
    if case.in_kernel is not None:
        return Found(kernel.found(case.in_kernel, output))
    if case.shape in ("inner", "left", "table"):
        return _joined(case, output)
    if case.shape == "foreign":
        order = F.col("key").cast("string").alias("key")
        last = output.groupBy(order).agg(F.max(as_long("value")).alias("n"))
        return Found(facts(last.withColumn("rows", F.lit(1))))
    if case.store is None:
        columns = (_windowed(F.col("text"), F.unix_millis("window.start")), F.col("count").alias("n"))
    else:
        tail = 16 if case.shape == "session" else 8
        text = F.expr(f"CAST(substring(key, 1, length(key) - {tail}) AS STRING)")
        start = as_long(F.expr("substring(key, length(key) - 7, 8)"))
        columns = (_windowed(text, start), as_long("value").alias("n"))
    # A session that grows is deleted first: a null is not a count.
    return Found(_per_key(output.select(*columns).where("n IS NOT NULL")))


def _joined(case: Case, output: DataFrame) -> Found:
    text = F.col("text") if case.store is None else F.col("key").cast("string")
    # A value is its key, so a pair is twice as long.
    parts = F.call_function("div", F.length("value"), F.octet_length(text))
    rows = output.select(text.alias("key"), parts.alias("n")).persist()
    try:
        return Found(_per_key(rows.where("n = 2")), rows.where("n = 1").count())
    finally:
        rows.unpersist()


def expected(case: Case, feed: Feed, batch: int, session: SparkSession) -> Found:
    """Return the expected facts of batch number `batch`, computed without its query."""
    if case.in_kernel is not None:
        return Found(kernel.expected(case.in_kernel, KernelFeed(feed.keys, feed.rows), batch, session))
    match case.shape:
        case "tumbling" | "hopping":
            rows = _windows(feed, batch, session)
            return Found(_per_key(rows, once=case.store is None))
        case "session":
            # Spark emits closed sessions: those of the batch before the last.
            rows = _sessions(feed, batch if case.store else batch - 2, session)
            return Found(_per_key(rows, once=case.store is None))
        case "foreign":
            return Found(facts(_orders(feed, batch, session)))
        case _:
            return _pairs(feed, batch, session)


def _windows(feed: Feed, batch: int, session: SparkSession) -> DataFrame:
    hop = HOP_MS if feed.shape == "hopping" else SIZE_MS
    number = F.col("id")
    time = feed.time(number)
    starts = [time - time % hop - hop * back for back in range(SIZE_MS // hop)]
    records = _numbers(feed, LEFT, batch, session).select("id", F.explode(F.array(*starts)).alias("start"))
    return records.select(
        _windowed(feed.text(LEFT, number), F.col("start")),
        feed.occurrence_since(number, F.col("start")).alias("n"),
    )


def _sessions(feed: Feed, batch: int, session: SparkSession) -> DataFrame:
    number = F.col("id")
    place = number % feed.rows
    start = feed.time(number - place + place % feed.active)
    return _numbers(feed, LEFT, batch, session).select(
        _windowed(feed.text(LEFT, number), start), (quotient(place, feed.active) + 1).alias("n")
    )


def _pairs(feed: Feed, batch: int, session: SparkSession) -> Found:
    number = F.col("id")
    if feed.shape == "table":
        records = _numbers(feed, LEFT, batch, session)
        return Found(_per_key(records.select(feed.text(LEFT, number).alias("key"), F.lit(2).alias("n"))))
    records = _numbers(feed, RIGHT, batch, session).where(matches(number))
    pairs = records.select(feed.text(RIGHT, number).alias("key"), F.lit(2).alias("n"))
    alone = 0
    if feed.shape == "left":
        alone = _numbers(feed, LEFT, batch, session).where(~matches(number + feed.shift)).count()
    return Found(_per_key(pairs), alone)


def _orders(feed: Feed, batch: int, session: SparkSession) -> DataFrame:
    """Return the orders that have changed in a batch, or whose product has."""
    orders, versions = (feed.sizes[topic] for topic in (LEFT, RIGHT))
    place = F.col("id")
    occurrence = quotient(F.lit(orders * (batch + 1) - 1) - place, feed.keys)
    product = feed.product_place(place, occurrence)
    version = quotient(F.lit(versions * (batch + 1) - 1) - product, feed.products)
    changed = (place + occurrence * feed.keys >= orders * batch) | (
        product + version * feed.products >= versions * batch
    )
    joined = feed.order(place, occurrence) * VERSIONS + version + 1
    return (
        session.range(feed.keys)
        .where(changed)
        .select(feed.text(LEFT, place).alias("key"), joined.alias("n"), F.lit(1).alias("rows"))
    )


def _numbers(feed: Feed, topic: str, batch: int, session: SparkSession) -> DataFrame:
    rows = feed.sizes[topic]
    return session.range(rows * batch, rows * (batch + 1))


def _per_key(rows: DataFrame, *, once: bool = False) -> Facts:
    counted = F.lit(1) if once else F.count("*")
    return facts(rows.groupBy("key").agg(F.max("n").alias("n"), counted.alias("rows")))


def _windowed(text: Column, start: Column) -> Column:
    return F.concat(text, F.lit("@"), start.cast("string")).alias("key")
