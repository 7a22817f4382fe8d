"""The topologies of Brookmere's cases."""

from __future__ import annotations

from pyspark.sql import functions as F

import brookmere as bm
from benchmarks.operators.cases import Case
from benchmarks.operators.data import GAP_MS, GRACE_MS, HOP_MS, LEFT, RIGHT, SIZE_MS, VERSIONS, Feed


def topology(case: Case, feed: Feed) -> bm.Topology:
    """Return the topology of one of Brookmere's cases."""
    app = bm.StreamsBuilder("bench", key=bm.Text(), value=bm.Bytes())
    match case.shape:
        case "tumbling" | "hopping" | "session":
            _windows(app, case)
        case "inner" | "left":
            _streams(app, case, feed)
        case "table":
            _table(app, case)
        case "foreign":
            _foreign_key(app, case, feed)
    return app.build()


def _windows(app: bm.StreamsBuilder, case: Case) -> None:
    windows: bm.TimeWindows | bm.SessionWindows = bm.SessionWindows(f"{GAP_MS}ms", grace=f"{GRACE_MS}ms")
    if case.shape != "session":
        hop = HOP_MS if case.shape == "hopping" else SIZE_MS
        windows = bm.TimeWindows(f"{SIZE_MS}ms", advance=f"{hop}ms", grace=f"{GRACE_MS}ms")
    # Re-keyed, as in the part `kernel`: Spark also sends each record to the task of its key.
    grouped = app.stream(LEFT).group_by(lambda key, _: key)
    counts = grouped.windowed_by(windows).count(store="counts", store_type=case.store or "auto")
    counts.to_stream().to("out")


def _streams(app: bm.StreamsBuilder, case: Case, feed: Feed) -> None:
    joined = app.stream(LEFT).join(
        app.stream(RIGHT),
        lambda left, right: F.concat(left, F.coalesce(right, F.lit(b""))),
        how="left" if case.shape == "left" else "inner",
        windows=bm.JoinWindows(f"{feed.within_ms}ms", grace=f"{GRACE_MS}ms"),
        store_type=case.store or "auto",
    )
    joined.to("out", value=bm.Bytes())


def _table(app: bm.StreamsBuilder, case: Case) -> None:
    table = app.table(RIGHT, store="table", store_type=case.store or "auto")
    joined = app.stream(LEFT).left_join(
        table, lambda left, right: F.concat(left, F.coalesce(right, F.lit(b"")))
    )
    joined.to("out", value=bm.Bytes())


def _foreign_key(app: bm.StreamsBuilder, case: Case, feed: Feed) -> None:
    kind = case.store or "auto"
    orders = app.table(LEFT, value=bm.Long(), store="orders", store_type=kind)
    # Orders look up a product in the task of its key, which only a repartition guarantees.
    products = app.stream(RIGHT, key=bm.Long(), value=bm.Long()).repartition()
    joined = orders.join(
        products.to_table(store="products", store_type=kind),
        lambda order, version: order * VERSIONS + version,
        foreign_key=lambda order: order % feed.products,
        store="joined",
        store_type=kind,
    )
    joined.to_stream().to("out", value=bm.Long())
