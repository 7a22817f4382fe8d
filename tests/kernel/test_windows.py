"""Windows, suppression and joins of streams: over partitions, in every kind of store, across restarts."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.serde.partition import partition_for
from brookmere.testing import TopologyTestDriver
from tests.kernel.feeding import KEYS, STORES, Program, StoreType, batches, of_keys, records_of, written


def _builder() -> bm.StreamsBuilder:
    return bm.StreamsBuilder("windows", key=bm.Text(), value=bm.Text())


def _shown(table: bm.KTable) -> None:
    def text(key: F.Column, _value: F.Column) -> F.Column:
        return F.concat(key.key, F.lit("@"), key.start.cast("string"), F.lit("/"), key.end.cast("string"))

    table.map_values(lambda value: value.cast("string")).to_stream(text).to("out")


def _joined(value: F.Column, agg: F.Column) -> F.Column:
    return F.concat(agg, F.coalesce(value, F.lit("-")), F.lit(" "))


def _merged(agg: F.Column, other: F.Column) -> F.Column:
    return F.concat(agg, other)


def _windowed(windows: object, emit: str = "update", **how: object) -> Program:
    def program() -> bm.StreamsBuilder:
        app = _builder()
        grouped = app.stream(["left", "right"]).group_by_key().windowed_by(windows, emit=emit)  # type: ignore[arg-type]
        _shown(grouped.aggregate("", _joined, store="kept", **how))  # type: ignore[arg-type]
        return app

    return program


def _suppressed() -> bm.StreamsBuilder:
    app = _builder()
    windowed = (
        app.stream(["left", "right"])
        .group_by_key()
        .windowed_by(bm.TimeWindows("20ms", advance="5ms", grace="10ms"))
    )
    _shown(windowed.count().suppress(bm.until_window_closes()))
    return app


def _held_back() -> bm.StreamsBuilder:
    app = _builder()
    table = app.table("left", store="rows").suppress(bm.until_time_limit("15ms", max_records=3))
    table.to_stream().to("out")
    app.stream("right").to("other")
    return app


def _streams(how: str) -> Program:
    def program() -> bm.StreamsBuilder:
        app = _builder()

        def slash(left: F.Column, right: F.Column) -> F.Column:
            return F.concat(F.coalesce(left, F.lit("null")), F.lit("/"), F.coalesce(right, F.lit("null")))

        windows = bm.JoinWindows(before="10ms", after="25ms", grace="15ms")
        app.stream("left").join(app.stream("right"), slash, windows=windows, how=how).to("out")  # type: ignore[arg-type]
        return app

    return program


PROGRAMS = {
    "tumbling": _windowed(bm.TimeWindows("20ms", grace="15ms")),
    "hopping": _windowed(bm.TimeWindows("20ms", advance="7ms", grace="30ms")),
    "hopping, at close": _windowed(bm.TimeWindows("20ms", advance="7ms", grace="30ms"), "close"),
    "sliding": _windowed(bm.SlidingWindows("15ms", grace="20ms")),
    "sliding, at close": _windowed(bm.SlidingWindows("15ms", grace="20ms"), "close"),
    "sessions": _windowed(bm.SessionWindows("4ms", grace="20ms"), merger=_merged),
    "sessions, at close": _windowed(bm.SessionWindows("4ms", grace="20ms"), "close", merger=_merged),
    "unlimited": _windowed(bm.UnlimitedWindows(50)),
    "final results": _suppressed,
    "held back": _held_back,
    "inner join": _streams("inner"),
    "left join": _streams("left"),
    "outer join": _streams("outer"),
}
every_program = pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())


@every_program
def test_each_partition_gives_what_it_gives_alone(program: Program) -> None:
    records = records_of(seed=11, count=250)

    together = written(program, records, partitions=3)

    assert len(together) > 20
    for partition in range(3):
        keys = {key for key in KEYS if partition_for(key.encode(), 3) == partition}
        own = [(topic, record) for topic, record in records if record.key in keys]
        assert of_keys(together, keys) == written(program, own)


@every_program
@pytest.mark.parametrize(("store_type", "log_bytes"), STORES)
def test_results_do_not_depend_on_stores_batches_or_restarts(
    program: Program, store_type: StoreType, log_bytes: int
) -> None:
    records = records_of(seed=12, count=250)

    cut = written(program, records, cut=5, restart=True, store_type=store_type, log_bytes=log_bytes)

    assert cut == written(program, records)


@pytest.mark.parametrize("name", ["tumbling", "hopping", "sliding", "unlimited"])
def test_last_results_of_batches_end_where_all_results_end(name: str) -> None:
    records = records_of(seed=13, count=250)

    last = written(PROGRAMS[name], records, cut=3, partitions=2, emit="last")

    every = written(PROGRAMS[name], records, partitions=2)
    assert len(last) < len(every)
    assert {key: value for key, value, _ in last} == {key: value for key, value, _ in every}


def test_streams_that_share_a_table_bring_out_the_results_of_a_batch_in_the_order_of_their_records() -> None:
    app = _builder()
    left, right = (app.stream(topic).group_by_key() for topic in ("left", "right"))
    sessions = left.cogroup(_joined).cogroup(right, _joined).windowed_by(bm.SessionWindows("10ms"))
    _shown(sessions.aggregate("", merger=_merged).suppress(bm.until_window_closes()))

    with TopologyTestDriver(app, emit="last") as driver:
        driver.pipe_records([("left", bm.Record("ada", "a", 0))])
        driver.pipe_records([("right", bm.Record("ada", "b", 8)), ("left", bm.Record("bob", "c", 100))])

        assert driver.output_topic("out").read_key_values_to_list() == [("ada@0/8", "a b ")]


@pytest.mark.parametrize("name", ["hopping", "sessions, at close", "outer join"])
def test_rows_in_rocksdb_on_spark_give_what_rows_in_memory_give(name: str) -> None:
    records = records_of(seed=14, count=120)
    expected = written(PROGRAMS[name], records)

    with TopologyTestDriver(PROGRAMS[name](), engine="spark", store_type="rocksdb") as driver:
        for number, batch in enumerate(batches(records, seed=6)):
            driver.pipe_records(batch)
            if number == 1:
                driver.restart()
        read = driver.output_topic("out").read_records_to_list()

    assert [(record.key, record.value, record.timestamp) for record in read] == expected


@pytest.mark.parametrize(("store_type", "log_bytes"), STORES)
def test_store_forgets_windows_that_stream_time_has_left_behind(
    store_type: StoreType, log_bytes: int
) -> None:
    app = _builder()
    counts = app.stream("in").group_by_key().windowed_by(bm.TimeWindows("10ms")).count(store="counts")
    counts.to_stream().to("out")
    with TopologyTestDriver(app, store_type=store_type, log_bytes=log_bytes) as driver:
        sizes = []
        for second in range(40):
            records = [("in", bm.Record(f"k{second * 50 + n}", "x", second * 10)) for n in range(50)]
            driver.pipe_records(records)
            sizes.append(len(driver.store("counts")))

    assert max(sizes) == 50
    assert sizes[-1] == 50
