"""Joins: over several partitions, in every kind of store, across restarts, with copies of tables."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.serde.partition import partition_for
from brookmere.testing import TopologyTestDriver
from tests.kernel.feeding import (
    KEYS,
    STORES,
    Program,
    StoreType,
    Written,
    batches,
    of_keys,
    records_of,
    written,
)

LATE = 40


def _slash(left: F.Column, right: F.Column) -> F.Column:
    return F.concat(F.coalesce(left, F.lit("null")), F.lit("/"), F.coalesce(right, F.lit("null")))


def _builder() -> bm.StreamsBuilder:
    return bm.StreamsBuilder("joining", key=bm.Text(), value=bm.Text())


def _stream_with_table() -> bm.StreamsBuilder:
    app = _builder()
    app.stream("left").left_join(app.table("right"), _slash).to("out")
    return app


def _stream_with_history() -> bm.StreamsBuilder:
    app = _builder()
    table = app.table("right", store="past", history=f"{LATE}ms")
    app.stream("left").left_join(table, _slash, grace="10ms").to("out")
    return app


def _tables() -> bm.StreamsBuilder:
    app = _builder()
    app.table("left").outer_join(app.table("right"), _slash, store="joined").to_stream().to("out")
    return app


def _tables_with_history() -> bm.StreamsBuilder:
    app = _builder()
    left = app.table("left", store="past", history=f"{LATE}ms")
    left.left_join(app.table("right"), _slash).to_stream().to("out")
    return app


def _foreign_key() -> bm.StreamsBuilder:
    app = _builder()
    table = app.table("left").left_join(app.table("right"), _slash, foreign_key=_first_word)
    table.to_stream().to("out")
    return app


def _foreign_key_of_itself() -> bm.StreamsBuilder:
    app = _builder()
    table = app.table("left")
    table.join(table, _slash, foreign_key=_first_word, store="joined").to_stream().to("out")
    app.stream("right").to("other")
    return app


def _group_joined_with_its_table() -> bm.StreamsBuilder:
    app = _builder()
    table = app.table("left")
    counts = table.group_by(lambda key, value: (_first_word(value), value)).count()
    shown = counts.map_values(lambda value: value.cast("string"))
    shown.outer_join(table.filter(lambda value: ~value.endswith("3")), _slash).to_stream().to("out")
    app.stream("right").to("other")
    return app


def _global_table_behind_a_repartition() -> bm.StreamsBuilder:
    app = _builder()
    table = app.global_table("right", store="everywhere")
    left = app.stream("left")
    left.join(table, _slash, key=lambda value: _first_word(value)).to("out")
    counts = left.group_by(lambda value: _first_word(value)).count().to_stream()
    counts.map_values(lambda value: value.cast("string")).left_join(table, _slash, key=lambda key, _: key).to(
        "other"
    )
    return app


def _first_word(value: F.Column) -> F.Column:
    return F.split(value, ":")[0]


OWN_KEY = [_stream_with_table, _stream_with_history, _tables, _tables_with_history]
FOREIGN = [_foreign_key, _foreign_key_of_itself, _group_joined_with_its_table]


@pytest.mark.parametrize("program", OWN_KEY)
def test_each_partition_gives_what_it_gives_alone(program: Program) -> None:
    records = records_of(seed=1)

    together = written(program, records, partitions=3)

    for partition in range(3):
        keys = {key for key in KEYS if partition_for(key.encode(), 3) == partition}
        own = [(topic, record) for topic, record in records if record.key in keys]
        assert of_keys(together, keys) == written(program, own)


@pytest.mark.parametrize("program", FOREIGN)
def test_row_that_meets_rows_of_other_partitions_has_the_results_of_one_partition(program: Program) -> None:
    records = records_of(seed=2)

    together = written(program, records, partitions=4)

    alone = written(program, records)
    assert len(alone) > 50
    for key in KEYS:
        assert of_keys(together, {key}) == of_keys(alone, {key})


@pytest.mark.parametrize("program", [*OWN_KEY, *FOREIGN])
@pytest.mark.parametrize(("store_type", "log_bytes"), STORES)
def test_results_do_not_depend_on_stores_batches_or_restarts(
    program: Program, store_type: StoreType, log_bytes: int
) -> None:
    records = records_of(seed=3)

    cut = written(program, records, cut=7, restart=True, store_type=store_type, log_bytes=log_bytes)

    assert cut == written(program, records)


@pytest.mark.parametrize(
    "program", [_tables, _foreign_key, _foreign_key_of_itself, _group_joined_with_its_table]
)
def test_last_results_of_batches_end_where_all_results_end(program: Program) -> None:
    records = records_of(seed=5)

    last = written(program, records, cut=3, partitions=2, emit="last")

    every = written(program, records, partitions=2)
    assert len(last) < len(every)
    assert {key: value for key, value, _ in last} == {key: value for key, value, _ in every}


@pytest.mark.parametrize("cut", [None, 5])
def test_global_table_is_seen_by_joins_of_several_stages(cut: int | None) -> None:
    seen: dict[str, Written] = {}
    for partitions in (1, 3):
        with TopologyTestDriver(_global_table_behind_a_repartition(), partitions=partitions) as driver:
            for batch in [records_of(seed=4)] if cut is None else batches(records_of(seed=4), cut):
                driver.pipe_records(batch)
            for topic in ("out", "other"):
                read = driver.output_topic(topic).read_records_to_list()
                rows = sorted((r.key, r.value, r.timestamp) for r in read)
                assert rows
                assert seen.setdefault(topic, rows) == rows


def test_versions_that_nobody_can_ask_for_any_more_are_dropped() -> None:
    app = _builder()
    app.table("in", store="past", history="10ms").to_stream().to("out")
    with TopologyTestDriver(app) as driver:
        for time in range(0, 400, 2):
            driver.pipe_records([("in", bm.Record("a", str(time), time))])
        driver.pipe_records([("in", bm.Record("old", "stays", 398)), ("in", bm.Record("b", "moves on", 900))])
        driver.pipe_records([("in", bm.Record("b", "again", 901))])

        store = driver.store("past")
        assert sorted(store.rows()) == [("a", "398", 398), ("b", "again", 901), ("old", "stays", 398)]
        assert store.get_as_of("a", 398) == ("398", 398)
        assert store.get_as_of("a", 396) is None
        assert store.get_as_of("b", 900) == ("moves on", 900)


def test_keys_of_different_types_are_refused() -> None:
    app = _builder()
    numbers = app.table("right", key=bm.Long())
    app.stream("left").join(numbers, _slash).to("out")

    with pytest.raises(bm.errors.ExpressionError, match="combines keys of the types"):
        TopologyTestDriver(app)


def test_foreign_key_of_another_type_than_the_right_key_is_refused() -> None:
    app = _builder()
    table = app.table("left").join(app.table("right"), _slash, foreign_key=lambda value: F.length(value))
    table.to_stream().to("out")

    with pytest.raises(bm.errors.ExpressionError, match="int"):
        TopologyTestDriver(app)


@pytest.mark.usefixtures("spark")
def test_foreign_key_join_sees_what_each_of_the_cogrouped_streams_does_to_its_table() -> None:
    app = bm.StreamsBuilder("hotel", key=bm.Text(), value=bm.Text())
    guests = app.table("guests")
    bookings, cancellations = (
        app.stream("bookings").group_by_key(),
        app.stream("cancellations").group_by_key(),
    )
    table = (
        bookings.cogroup(lambda guest, row: {"guest": guest, "stands": True})
        .cogroup(cancellations, lambda row: row.withField("stands", F.lit(False)))
        .aggregate({"guest": None, "stands": None})
    )
    joined = table.left_join(
        guests,
        lambda row, name: F.concat_ws(" ", name, row.stands.cast("string")),
        foreign_key=lambda row: row.guest,
    )
    joined.to_stream().to("out", value=bm.Text())

    with TopologyTestDriver(app) as driver:
        driver.input_topic("guests").pipe_input("g", "Ada")
        driver.input_topic("bookings").pipe_input("b", "g")
        driver.input_topic("cancellations").pipe_input("b", "")
        driver.input_topic("guests").pipe_input("g", "Ada L")

        assert driver.output_topic("out").read_values_to_list() == ["Ada true", "Ada false", "Ada L false"]
