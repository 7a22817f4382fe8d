"""The benchmark programs as Brookmere topologies, from Kafka topics to a Kafka topic."""

from __future__ import annotations

from datetime import timedelta

from pyspark.sql import functions as F

import brookmere as bm
from benchmarks.kafka.kinds import GRACE_MS, WINDOW_MS, Kind
from benchmarks.orders import LEAST_QUANTITY, ORDER, PROJECTED


def program(kind: Kind, *, application: str, source: str, table: str, out: str) -> bm.StreamsBuilder:
    """Return a program that reads `source`, and `table` if it joins one, and writes `out`."""
    app = bm.StreamsBuilder(application, key=bm.Text(), value=bm.Bytes())
    if kind == "projection":
        _projection(app, source, out)
    elif kind == "words":
        _words(app, source, out)
    elif kind == "keys":
        app.stream(source).group_by_key().count().to_stream().to(out, value=bm.Long())
    elif kind == "join":
        _join(app, source, table, out)
    else:
        _windows(app, source, out)
    return app


def _projection(app: bm.StreamsBuilder, source: str, out: str) -> None:
    orders = app.stream(source, value=bm.Json(ORDER))
    projected = orders.filter(lambda order: order["quantity"] >= LEAST_QUANTITY).map_values(
        lambda order: F.struct(
            order["order"].alias("order"),
            order["customer"].alias("customer"),
            (order["quantity"] * order["price"]).alias("total"),
        )
    )
    projected.to(out, value=bm.Json(PROJECTED))


def _words(app: bm.StreamsBuilder, source: str, out: str) -> None:
    words = app.stream(source, value=bm.Text()).flat_map_values(lambda line: F.split(F.lower(line), " "))
    words.group_by(lambda _, word: word).count().to_stream().to(out, value=bm.Long())


def _join(app: bm.StreamsBuilder, source: str, table: str, out: str) -> None:
    users = app.table(table, value=bm.Text())
    clicks = app.stream(source, value=bm.Text())
    clicks.join(users, lambda click, region: F.concat_ws(" ", click, region)).to(out, value=bm.Text())


def _windows(app: bm.StreamsBuilder, source: str, out: str) -> None:
    windows = bm.TimeWindows(timedelta(milliseconds=WINDOW_MS), grace=timedelta(milliseconds=GRACE_MS))
    counts = app.stream(source).group_by_key().windowed_by(windows).count()
    counts.to_stream().to(out, key=bm.Windowed(bm.Text()), value=bm.Long())
