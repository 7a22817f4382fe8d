"""Versions of one program that changes between two runs, and how tests look at its state."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from pyspark.sql import functions as F

import brookmere as bm
from tests.run.homes import Home


def builder() -> bm.StreamsBuilder:
    return bm.StreamsBuilder("changing", key=bm.Text(), value=bm.Text())


def put(home: Home, topic: str, *records: tuple[str, str, int], partitions: int = 1) -> None:
    found = home.topics.create(topic, partitions, exist_ok=True)
    found.append([bm.Record(key.encode(), value.encode(), time) for key, value, time in records])


def latest(home: Home, topic: str, value: bm.Serde | None = None) -> dict[str, Any]:
    """Return the last value of each key, as it was written."""
    serde = value or bm.Long()
    found = home.topics[topic]
    records = [record for p in range(found.partitions) for record in found.read(p)]
    return {record.key.decode(): serde.deserialize(record.value) for record in records}


def identity(home: Home) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((home.directory / "state/changing/application.json").read_text())
    return content


def count() -> bm.StreamsBuilder:
    app = builder()
    app.stream("in").group_by_key().count(store="counts").to_stream().to("out")
    return app


def with_more() -> bm.StreamsBuilder:
    """Add a store before and one behind, with operators that shift all numbers."""
    app = builder()
    records = app.stream("in").filter(lambda value: value != "skip").map_values(lambda value: F.upper(value))
    grouped = records.group_by_key()
    grouped.reduce(lambda total, value: F.concat(total, value), store="texts").to_stream().to("texts")
    grouped.count(store="counts").to_stream().to("out")
    return app


def repartitioned() -> bm.StreamsBuilder:
    """Add a repartition in front, and one with a store behind it."""
    app = builder()
    records = app.stream("in").select_key(lambda key, value: key)
    counts = records.group_by_key().count(store="counts").to_stream()
    counts.to("out")
    lengths = counts.group_by(lambda key, value: F.length(key).cast("string"))
    lengths.reduce(lambda total, value: total + value, store="lengths").to_stream().to("lengths")
    return app


def windows(
    extra: bool = False, *, size: int = 10, gap: int = 3, retention: int | None = None
) -> bm.StreamsBuilder:
    """Count in windows and in sessions, hold results back, join two streams; `extra` moves all that on."""
    app = builder()
    if extra:
        values = app.stream("in").group_by(lambda key, value: value).count(store="values").to_stream()
        values.to("values", value=bm.Long())
        lengths = values.group_by(lambda key, value: F.length(key).cast("string"))
        lengths.count(store="lengths").to_stream().to("values", value=bm.Long())
    records = app.stream("in")
    if extra:
        records = records.map_values(lambda value: value).select_key(lambda key, value: key)
    grouped = records.group_by_key()
    kept = {} if retention is None else {"retention": timedelta(milliseconds=retention)}
    tumbling = bm.TimeWindows(timedelta(milliseconds=size))
    counts = grouped.windowed_by(tumbling).count(store="windows", **kept)
    _write(counts.suppress(bm.until_window_closes(), name="held").to_stream(), "closed")
    sessions = bm.SessionWindows(timedelta(milliseconds=gap), grace=timedelta(milliseconds=5))
    _write(grouped.windowed_by(sessions).count(store="sessions").to_stream(), "sessions")
    near = bm.JoinWindows(timedelta(milliseconds=4), grace=timedelta(milliseconds=5))
    others = app.stream("others")
    pairs = records.outer_join(others, lambda x, y: F.concat_ws("-", x, y), windows=near, store="pair")
    pairs.to("pairs")
    return app


def _write(table: Any, topic: str) -> None:
    table.map(lambda key, value: (F.concat_ws("-", key["key"], key["start"], key["end"]), value)).to(
        topic, value=bm.Long()
    )
