"""dedupe(): the first record of a key in a span of event time, and no other."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Literal

import pytest

import brookmere as bm
from brookmere.testing import TopologyTestDriver

Records = list[tuple[str | None, str, int]]
TEN = timedelta(milliseconds=10)


def _program(**options: Any) -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("dedupe", key=bm.Text(), value=bm.Text())
    app.stream("in").dedupe(TEN, name="once", **options).to("out")
    return app


def _run(
    records: Records,
    *,
    cut: int | None = None,
    engine: Literal["local", "spark"] = "local",
    store_type: Literal["auto", "memory", "rocksdb"] = "auto",
    **options: Any,
) -> list[tuple[str, str, int]]:
    with TopologyTestDriver(_program(**options), engine=engine, store_type=store_type) as driver:
        feed = [("in", bm.Record(key, value, time)) for key, value, time in records]
        for at in range(0, len(feed), cut or len(feed)):
            driver.pipe_records(feed[at : at + (cut or len(feed))])
        found = driver.output_topic("out").read_records_to_list()
        return [(record.key, record.value, record.timestamp) for record in found]


def test_first_record_of_a_key_passes_and_duplicates_do_not() -> None:
    assert _run([("a", "1", 0), ("b", "2", 1), ("a", "3", 9), ("b", "4", 2)]) == [
        ("a", "1", 0),
        ("b", "2", 1),
    ]


def test_new_span_starts_with_the_first_record_after_the_last_one() -> None:
    records: Records = [("a", str(time), time) for time in (0, 5, 9, 10, 19, 20, 35)]

    assert [time for _, _, time in _run(records)] == [0, 10, 20, 35]


def test_a_record_out_of_order_is_compared_with_the_one_that_passed() -> None:
    records: Records = [("a", "1", 15), ("b", "2", 20), ("a", "3", 11), ("c", "4", 12), ("c", "5", 21)]

    assert [value for _, value, _ in _run(records)] == ["1", "2", "4"]


def test_a_record_that_is_too_late_to_be_compared_is_dropped() -> None:
    with TopologyTestDriver(_program(late_to="late")) as driver:
        driver.pipe_records(
            [("in", bm.Record("a", "1", 20, (("h", b"x"),))), ("in", bm.Record("b", "2", 10))]
        )
        record = driver.output_topic("late").read_record()

        assert (record.key, record.value, record.timestamp) == ("b", "2", 10)
        assert record.headers == (
            ("brookmere.dropped.reason", b"late"),
            ("brookmere.dropped.node", b"once"),
            ("brookmere.dropped.stream_time", b"20"),
        )
        assert driver.counters["once"]["dropped"] == 1
        assert driver.output_topic("out").read_record().headers == (("h", b"x"),)


def test_headers_of_the_record_stay_in_front_of_the_reason() -> None:
    with TopologyTestDriver(_program(late_to="late")) as driver:
        driver.pipe_records([("in", bm.Record(None, "1", 20, (("h", b"x"), ("n", None))))])
        headers = driver.output_topic("late").read_record().headers

    assert headers[:3] == (("h", b"x"), ("n", None), ("brookmere.dropped.reason", b"null-key"))


@pytest.mark.parametrize("by", [lambda value: value, lambda key, value: value])
def test_by_defines_duplicates(by: Any) -> None:
    records: Records = [("a", "x", 0), ("b", "x", 1), ("a", "y", 2), (None, "y", 3), (None, "z", 4)]

    assert [value for _, value, _ in _run(records, by=by)] == ["x", "y", "z"]


def test_by_may_name_a_field() -> None:
    app = bm.StreamsBuilder("dedupe", key=bm.Text(), value=bm.Json("id bigint, n bigint"))
    app.stream("in").dedupe(TEN, by="id").map_values(lambda value: value.n).to("out", value=bm.Long())

    with TopologyTestDriver(app) as driver:
        topic = driver.input_topic("in")
        for n, identity in enumerate((1, 1, 2, None)):
            topic.pipe_input("a", {"id": identity, "n": n})

        assert driver.output_topic("out").read_values_to_list() == [0, 2]


def test_results_do_not_depend_on_batches_stores_or_engines() -> None:
    records: Records = [
        (key, f"{key}{n}", time)
        for n, time in enumerate((0, 4, 30, 22, 25, 41, 12, 31, 60, 55, 52, 70, 200, 195, 190, 211))
        for key in ("a", "b" if n % 2 else "c")
    ]

    expected = _run(records)

    assert _run(records, cut=1) == expected
    assert _run(records, cut=5, store_type="rocksdb") == expected
    assert _run(records, cut=7, engine="spark", store_type="rocksdb") == expected


def test_state_expires() -> None:
    with TopologyTestDriver(_program(store="seen")) as driver:
        driver.pipe_records([("in", bm.Record(f"k{n}", "x", n)) for n in range(100)])
        driver.pipe_records([("in", bm.Record("last", "x", 1000))])

        assert len(driver.store("seen").rows()) == 1


def test_a_stream_with_new_keys_is_repartitioned_first() -> None:
    app = bm.StreamsBuilder("dedupe", key=bm.Text(), value=bm.Text())
    app.stream("in").select_key(lambda value: value).dedupe(TEN).to("out")

    with TopologyTestDriver(app, partitions=3) as driver:
        for key in "abcdef":
            driver.input_topic("in").pipe_input(key, "same", timestamp=0)

        assert driver.output_topic("out").read_key_values_to_list() == [("same", "same")]


def test_span_of_zero_is_refused() -> None:
    app = bm.StreamsBuilder("dedupe", key=bm.Text(), value=bm.Text())

    with pytest.raises(bm.errors.TopologyError, match="within of dedupe must not be zero"):
        app.stream("in").dedupe(timedelta(0))
