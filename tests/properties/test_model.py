"""Aggregates give, record by record, what a model in plain Python gives."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import strategies as st
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

import brookmere as bm
from brookmere import Record
from brookmere.testing import TopologyTestDriver
from tests.properties.cases import cut, cuts, records
from tests.properties.model import Folding, Regrouping, Written, written_by
from tests.properties.search import search

FED = st.lists(records().map(lambda record: replace(record, partition=None)), max_size=20)
PARTITIONS = st.integers(1, 4)


def _told(word: str) -> Callable[[Any, Any], Any]:
    """Return a fold that writes down what it saw; texts and Columns are added alike."""
    return lambda folded, value: folded + word + value


def _concat(word: str) -> Callable[[Column, Column], Column]:
    return lambda folded, value: F.concat(folded, F.lit(word), value)


def _first(value: Column) -> Column:
    return F.substring(value, 1, 1)


STREAM_FOLDS: dict[str, tuple[Callable[[bm.KGroupedStream], bm.KTable], Callable[[], Folding]]] = {
    "count": (
        lambda grouped: grouped.count(store="rows").map_values(lambda value: value.cast("string")),
        lambda: Folding(lambda folded, value: str(int(folded) + 1), "0"),
    ),
    "reduce": (
        lambda grouped: grouped.reduce(_concat(","), store="rows"),
        lambda: Folding(_told(",")),
    ),
    "aggregate": (
        lambda grouped: grouped.aggregate("i", lambda value, agg: _concat("+")(agg, value), store="rows"),
        lambda: Folding(_told("+"), "i"),
    ),
    "a reduce that deletes": (
        lambda grouped: grouped.reduce(
            lambda agg, value: F.when(value != "b", F.concat(agg, value)), store="rows"
        ),
        lambda: Folding(lambda folded, value: None if value == "b" else folded + value),
    ),
    "agg": (
        lambda grouped: grouped.agg(
            n=bm.count(), low=bm.min(lambda v: v), begin=bm.first(lambda v: v), store="rows"
        ).map_values(lambda agg: F.concat_ws("|", agg["n"].cast("string"), agg.low, agg.begin)),
        lambda: Folding(_short, ""),
    ),
}


def _short(folded: str, value: str) -> str:
    number, low, begin = folded.split("|") if folded else ("0", value, value)
    return f"{int(number) + 1}|{min(low, value)}|{begin}"


TABLE_FOLDS: dict[str, tuple[Callable[[bm.KGroupedTable], bm.KTable], dict[str, Any]]] = {
    "count": (
        lambda grouped: grouped.count(store="rows").map_values(lambda value: value.cast("string")),
        {
            "add": lambda folded, value: str(int(folded) + 1),
            "undo": lambda folded, value: str(int(folded) - 1),
            "initial": "0",
        },
    ),
    "reduce": (
        lambda grouped: grouped.reduce(_concat("+"), _concat("-"), store="rows"),
        {"add": _told("+"), "undo": _told("-")},
    ),
    "aggregate": (
        lambda grouped: grouped.aggregate(
            "i",
            lambda value, agg: _concat("+")(agg, value),
            lambda key, value, agg: _concat("-")(agg, value),
            store="rows",
        ),
        {"add": _told("+"), "undo": _told("-"), "initial": "i"},
    ),
}


@pytest.mark.parametrize("fold", STREAM_FOLDS)
@pytest.mark.parametrize("regrouped", [False, True], ids=["by key", "by value"])
def test_a_stream_is_folded_as_in_the_model(spark: SparkSession, fold: str, regrouped: bool) -> None:
    @search(0, fed=FED, sizes=cuts(), partitions=PARTITIONS)
    def holds(fed: list[Record], sizes: list[int], partitions: int) -> None:
        call, model_of = STREAM_FOLDS[fold]
        app = bm.StreamsBuilder("modelled", key=bm.Text(), value=bm.Text())
        stream = app.stream("in")
        grouped = stream.group_by(_first) if regrouped else stream.group_by_key()
        call(grouped).to_stream().to("out")

        written, stored = run(spark, app, fed, sizes, partitions)

        model = model_of()
        seen = [replace(r, key=None if r.value is None else r.value[:1]) if regrouped else r for r in fed]
        assert per_key(written) == per_key(written_by(model, seen))
        assert stored == sorted((key, time) for key, (_, time) in model.rows.items())


@pytest.mark.parametrize("fold", TABLE_FOLDS)
@pytest.mark.parametrize("filtered", [False, True], ids=["all rows", "filtered"])
def test_a_table_is_grouped_anew_as_in_the_model(spark: SparkSession, fold: str, filtered: bool) -> None:
    @search(0, fed=FED, sizes=cuts(), partitions=PARTITIONS)
    def holds(fed: list[Record], sizes: list[int], partitions: int) -> None:
        call, folds = TABLE_FOLDS[fold]
        app = bm.StreamsBuilder("modelled", key=bm.Text(), value=bm.Text())
        table = app.table("in")
        if filtered:
            table = table.filter(lambda value: value.contains("a"))
        call(table.group_by(lambda key, value: (_first(value), value))).to_stream().to("out")

        written, stored = run(spark, app, fed, sizes, partitions)

        model = Regrouping(lambda value: not filtered or "a" in value, lambda key, value: value[:1], **folds)
        assert per_key(written) == per_key(written_by(model, fed))
        assert stored == sorted((key, time) for key, (_, time) in model.rows.items())


def run(
    spark: SparkSession, app: bm.StreamsBuilder, fed: list[Record], sizes: list[int], partitions: int
) -> tuple[list[Written], list[tuple[str, int]]]:
    """Return what comes out, and keys and times in the store."""
    with TopologyTestDriver(app, session=spark, partitions=partitions) as driver:
        for batch in cut([("in", record) for record in fed], sizes):
            driver.pipe_records(batch)
        out = driver.output_topic("out", value=bm.Text()).read_records_to_list()
        stored = sorted((key, time) for key, _, time in driver.store("rows").rows())
    return [(record.key, record.value, record.timestamp, record.headers) for record in out], stored


def per_key(written: list[Written]) -> dict[str, list[Written]]:
    """Return what was written for each key, in order."""
    found = defaultdict(list)
    for update in written:
        found[update[0]].append(update)
    return dict(found)
