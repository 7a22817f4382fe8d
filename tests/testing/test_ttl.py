"""Tables with a time to live: rows that are not updated are deleted, for all readers."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Literal

import pytest

import brookmere as bm
from brookmere.testing import TopologyTestDriver

TEN = timedelta(milliseconds=10)
Records = list[tuple[str, str | None, int]]


def _program() -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("ttl", key=bm.Text(), value=bm.Text())
    app.table("in", store="rows", ttl=TEN, name="table").to_stream().to("out")
    return app


def _run(
    records: Records,
    *,
    cut: int = 1,
    engine: Literal["local", "spark"] = "local",
    store_type: Literal["auto", "memory", "rocksdb"] = "auto",
) -> tuple[list[tuple[str, str | None, int]], list[Any]]:
    with TopologyTestDriver(_program(), engine=engine, store_type=store_type) as driver:
        feed = [("in", bm.Record(key, value, time)) for key, value, time in records]
        for at in range(0, len(feed), cut):
            driver.pipe_records(feed[at : at + cut])
        found = driver.output_topic("out").read_records_to_list()
        return [(r.key, r.value, r.timestamp) for r in found], sorted(driver.store("rows").rows())


def test_a_row_is_deleted_when_stream_time_reaches_its_end() -> None:
    written, kept = _run([("a", "1", 0), ("b", "2", 9), ("c", "3", 10)])

    assert written == [("a", "1", 0), ("b", "2", 9), ("a", None, 10), ("c", "3", 10)]
    assert [row[0] for row in kept] == ["b", "c"]


def test_update_extends_the_life_of_a_row() -> None:
    written, _ = _run([("a", "1", 0), ("a", "2", 8), ("b", "3", 12), ("b", "4", 18)])

    assert written == [("a", "1", 0), ("a", "2", 8), ("b", "3", 12), ("a", None, 18), ("b", "4", 18)]


def test_rows_expire_in_order() -> None:
    written, kept = _run([("b", "1", 1), ("a", "2", 1), ("c", "3", 0), ("d", "4", 100)])

    assert written[3:] == [("c", None, 10), ("a", None, 11), ("b", None, 11), ("d", "4", 100)]
    assert len(kept) == 1


def test_deleted_row_does_not_expire_again() -> None:
    written, _ = _run([("a", "1", 0), ("a", None, 1), ("b", "2", 50)])

    assert written == [("a", "1", 0), ("a", None, 1), ("b", "2", 50)]


def test_an_older_update_shortens_the_life_of_a_row() -> None:
    written, _ = _run([("a", "1", 9), ("a", "2", 5), ("b", "3", 15)])

    assert written == [("a", "1", 9), ("a", "2", 5), ("a", None, 15), ("b", "3", 15)]


def test_update_that_has_already_expired_is_dropped() -> None:
    with TopologyTestDriver(_program()) as driver:
        driver.pipe_records([("in", bm.Record("a", "1", 20)), ("in", bm.Record("b", "2", 10))])

        assert driver.output_topic("out").read_key_values_to_list() == [("a", "1")]
        assert driver.counters["table"]["dropped"] == 1


def test_results_do_not_depend_on_batches_stores_or_engines() -> None:
    records: Records = [
        (f"k{n * 7 % 5}", None if n % 11 == 10 else str(n), n * 3 - (n % 4) * 2) for n in range(40)
    ]

    expected = _run(records)

    assert _run(records, cut=40) == expected
    assert _run(records, cut=7, store_type="rocksdb") == expected
    assert _run(records, cut=13, engine="spark", store_type="rocksdb") == expected


def test_downstream_operators_see_the_deletion() -> None:
    app = bm.StreamsBuilder("ttl", key=bm.Text(), value=bm.Text())
    table = app.stream("in").to_table(ttl=TEN)
    counts = table.group_by(lambda key, value: (value, value), key=bm.Text()).count(store="counts")
    counts.to_stream().to("out", value=bm.Long())

    with TopologyTestDriver(app) as driver:
        for key, time in (("a", 0), ("b", 5), ("c", 10)):
            driver.input_topic("in").pipe_input(key, "x", timestamp=time)

        assert driver.output_topic("out").read_values_to_list() == [1, 2, 1, 2]


def test_history_and_time_to_live_exclude_each_other() -> None:
    app = bm.StreamsBuilder("ttl", key=bm.Text(), value=bm.Text())

    with pytest.raises(bm.errors.TopologyError, match="cannot have both"):
        app.table("in", history=TEN, ttl=TEN)
