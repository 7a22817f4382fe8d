"""The queries you would write with Spark alone."""

from __future__ import annotations

from typing import Literal

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks.operators.cases import Shape
from benchmarks.operators.data import GAP_MS, GRACE_MS, HOP_MS, LEFT, RIGHT, SIZE_MS, Feed

MODES: dict[Shape, Literal["update", "append"]] = {"tumbling": "update", "hopping": "update"}
"""Spark refuses sessions and stream-stream joins in update mode."""


def query(feed: Feed, session: SparkSession) -> DataFrame:
    """Return the streaming output rows."""
    topics = {
        topic: rows.select("text", "value", F.timestamp_millis("timestamp").alias("time")).withWatermark(
            "time", _text(GRACE_MS)
        )
        for topic, rows in feed.streams(session).items()
    }
    if feed.shape in ("inner", "left"):
        return _join(feed, topics)
    window = F.window("time", _text(SIZE_MS), _text(HOP_MS if feed.shape == "hopping" else SIZE_MS))
    if feed.shape == "session":
        window = F.session_window("time", _text(GAP_MS))
    return topics[LEFT].groupBy(window.alias("window"), "text").count()


def _join(feed: Feed, topics: dict[str, DataFrame]) -> DataFrame:
    left, right = topics[LEFT].alias("l"), topics[RIGHT].alias("r")
    within = F.expr(f"INTERVAL {feed.within_ms} MILLISECONDS")
    near = F.col("r.time").between(F.col("l.time") - within, F.col("l.time") + within)
    joined = left.join(
        right, (F.col("l.text") == F.col("r.text")) & near, "left_outer" if feed.shape == "left" else "inner"
    )
    value = F.concat("l.value", F.coalesce("r.value", F.lit(b"")))
    return joined.select(F.col("l.text").alias("text"), value.alias("value"))


def _text(milliseconds: int) -> str:
    return f"{milliseconds} milliseconds"
