"""Stages without an exchange between them: Python and kernel stages in one operator, before it and in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.testing import TopologyTestDriver

Engine = Literal["local", "spark"]
ENGINES: list[Engine] = ["local", "spark"]
Written = list[tuple[str, str]]


def upper(value: str) -> str:
    return value.upper()


def twice(value: str) -> list[str]:
    return [value, value + "'"]


def joined(one: str, other: str) -> str:
    return one + other


def twice_in_one(value: str) -> str:
    return value + value


def builder() -> bm.StreamsBuilder:
    return bm.StreamsBuilder("chains", key=bm.Text(), value=bm.Text())


def looks_into_a_python_table_twice() -> bm.StreamsBuilder:
    """Both joins look into copies of what Python makes of a table: the copies are in one operator."""
    app = builder()
    table = app.table("rows", store="rows").map_values(bm.python(upper))
    once = app.stream("events").join(table, lambda left, right: F.concat(left, F.lit("+"), right))
    again = once.map_values(bm.python(str.lower, returns=str))
    again.join(table, lambda left, right: F.concat(left, F.lit("*"), right)).to("out")
    return app


def _read(driver: TopologyTestDriver) -> Written:
    return [(str(key), str(value)) for key, value in driver.output_topic("out").read_key_values_to_list()]


@pytest.mark.parametrize("engine", ENGINES)
def test_copies_of_a_python_table_in_one_operator_have_their_own_rows(engine: Engine) -> None:
    records = [("rows", bm.Record("a", "x", 1)), ("rows", bm.Record("b", "y", 1))]
    records += [("events", bm.Record("a", "1", 2)), ("rows", bm.Record("a", "z", 3))]
    records += [("events", bm.Record("a", "2", 4))]

    with TopologyTestDriver(looks_into_a_python_table_twice(), engine=engine) as driver:
        driver.pipe_records(records)
        first = _read(driver)
        driver.restart()
        driver.pipe_records([("events", bm.Record("b", "3", 5))])
        second = _read(driver)

    assert first == [("a", "1+x*X"), ("a", "2+z*Z")]
    assert second == [("b", "3+y*Y")]


def looks_into_a_python_aggregate() -> bm.StreamsBuilder:
    app = builder()
    table = app.stream("rows").group_by_key().reduce(bm.python(joined), store="kept")
    events = app.stream("events").join(table, lambda left, right: F.concat(left, F.lit("+"), right))
    events.map_values(bm.python(upper)).to("out")
    return app


@pytest.mark.parametrize(
    ("program", "expected"),
    [(looks_into_a_python_table_twice, "1+x*X"), (looks_into_a_python_aggregate, "1+X")],
)
def test_row_is_found_by_what_comes_behind_it_though_updates_wait_for_the_end_of_the_batch(
    program: Callable[[], bm.StreamsBuilder], expected: str
) -> None:
    with TopologyTestDriver(program(), emit="last") as driver:
        driver.pipe_records([("rows", bm.Record("a", "x", 1)), ("events", bm.Record("a", "1", 2))])

        assert _read(driver) == [("a", expected)]


def test_records_of_partitions_that_take_turns_keep_their_order_in_front_of_the_exchange() -> None:
    app = builder()
    stream = app.stream("in").flat_map_values(bm.python(twice, returns=str)).filter(lambda v: v.isNotNull())
    stream.map_values(bm.python(upper)).to("out")

    with TopologyTestDriver(app, partitions={"in": 3}) as driver:
        driver.pipe_records([("in", bm.Record(f"k{n % 5}", f"v{n}", n)) for n in range(20)])
        found = _read(driver)
        counted = driver.counters

    assert found == [(f"k{n % 5}", f"V{n}{tick}") for n in range(20) for tick in ("", "'")]
    assert [counts["received"] for counts in counted.values()] == [20, 20, 40, 40, 40]


def test_what_python_leaves_alone_comes_out_where_it_would_without_python() -> None:
    def program(make: object) -> bm.StreamsBuilder:
        app = builder()
        source = app.stream("in")
        source.map_values(lambda v: F.concat(v, F.lit("1"))).to("out")
        source.map_values(make).to("out")
        source.map_values(lambda v: F.concat(v, F.lit("2"))).to("out")
        return app

    found = []
    for make in (bm.python(upper), F.upper):
        with TopologyTestDriver(program(make)) as driver:
            driver.pipe_records([("in", bm.Record("k", text, 0)) for text in ("a", "b")])
            found.append(_read(driver))

    assert found[0] == found[1] == [("k", v) for v in ("a1", "A", "a2", "b1", "B", "b2")]


def test_branches_that_meet_again_in_python_keep_the_order_of_records() -> None:
    app = builder()
    split = app.stream("in").split(name="split-").branch(bm.python(str.isdigit), name="digits")
    branches = split.default_branch(name="others")
    merged = branches["split-digits"].map_values(bm.python(twice_in_one)).merge(branches["split-others"])
    merged.map_values(bm.python(upper)).to("out")

    with TopologyTestDriver(app) as driver:
        driver.pipe_records([("in", bm.Record("k", text, 0)) for text in ("a", "1", "b", "2")])
        found = _read(driver)
        counted = driver.counters

    assert found == [("k", "A"), ("k", "11"), ("k", "B"), ("k", "22")]
    assert counted["split-others"] == {**counted["split-others"], "received": 2, "forwarded": 2}


def test_each_stage_of_an_operator_has_a_stream_time_of_its_own() -> None:
    app = builder()
    counts = app.stream("in").group_by_key().count(store="counts").to_stream()
    text = counts.map_values(bm.python(str, returns=str)).filter(lambda v: v != "1")
    text.group_by_key().windowed_by(bm.TimeWindows("10ms")).count(store="late").to_stream()
    text.to("out")

    with TopologyTestDriver(app, engine="local") as driver:
        driver.pipe_records(
            [("in", bm.Record(key, "", time)) for key, time in (("a", 5), ("b", 50), ("a", 6))]
        )
        found = _read(driver)
        kept = driver.store("late").rows()

    assert found == [("a", "2")]
    # Only the record at 6 came through, so nothing was late behind Python.
    assert len(list(kept)) == 1
