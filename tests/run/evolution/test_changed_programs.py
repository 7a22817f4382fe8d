"""A program that changes between two runs keeps the state of the stores that stay."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from pyspark.sql import functions as F

import brookmere as bm
from tests.run.evolution.versions import (
    builder,
    count,
    identity,
    latest,
    put,
    repartitioned,
    windows,
    with_more,
)
from tests.run.homes import Home

pytestmark = pytest.mark.usefixtures("spark")


def refused(home: Home, program: bm.StreamsBuilder, **settings: Any) -> str:
    """Return why a program is refused, after a look that nothing was changed."""
    directory = home.directory / "state" / "changing"
    before = {path.name for path in directory.iterdir()}, identity(home)
    application = home.application(program, **settings)
    found = application.check()
    with pytest.raises(bm.errors.StateError) as caught:
        application.start()
    assert ({path.name for path in directory.iterdir()}, identity(home)) == before
    assert found is not None
    assert not found.is_possible
    return str(caught.value)


def test_stores_come_and_go_and_those_that_stay_keep_their_state(home: Home) -> None:
    def write(time: int) -> None:
        put(home, "in", *[(key, "x", time) for key in "abcdefgh"], partitions=4)

    every = dict.fromkeys("abcdefgh")
    for time, program in enumerate([count, with_more, count, repartitioned, with_more]):
        write(time)
        # Spark's partitions may change with a move, too.
        home.run(program(), num__stream__threads=1 + time % 3)
        assert latest(home, "out") == dict.fromkeys(every, time + 1)

    # A store that comes back begins empty: what it held when it went is gone.
    assert latest(home, "texts", bm.Text()) == dict.fromkeys(every, "X")
    assert latest(home, "lengths") == {"1": sum(range(3, 5)) * 8 - 3 * 8}


def test_check_looks_at_an_application_that_runs(home: Home) -> None:
    put(home, "in", ("a", "x", 1))
    with home.application(count()) as application:
        application.process_all_available()
        found = home.application(repartitioned(), store__type="rocksdb").check()
        put(home, "in", ("a", "x", 2))
        application.process_all_available()

    assert found is not None
    assert [(f.store, f.outcome) for f in found.findings] == [("counts", "converted"), ("lengths", "new")]
    assert home.read("out", bm.Long()) == [1, 2]


def test_stores_are_converted_and_nothing_is_lost(home: Home) -> None:
    for time, kind in enumerate(["auto", "rocksdb", "memory", "rocksdb", "auto"]):
        put(home, "in", ("a", "x", time), ("b", "x", time), partitions=2)
        home.run(count(), store__type=kind)

    assert latest(home, "out") == {"a": 5, "b": 5}
    assert identity(home)["stores"]["counts"]["kind"] == "auto"


def test_table_moves_to_the_stage_of_a_new_join(home: Home) -> None:
    def table_only() -> bm.StreamsBuilder:
        app = builder()
        app.table("names", store="names").to_stream().to("out", value=bm.Text())
        return app

    def joined() -> bm.StreamsBuilder:
        app = builder()
        names = app.table("names", store="names")
        names.to_stream().to("out", value=bm.Text())
        orders = app.stream("orders").group_by(lambda key, value: value).count(store="orders").to_stream()
        again = orders.select_key(lambda key, value: key)
        again.join(names, lambda order, name: F.concat(order.cast("string"), F.lit(" "), name)).to("joined")
        return app

    put(home, "names", ("a", "Ann", 0), ("b", "Bob", 1), partitions=2)
    home.run(table_only())
    put(home, "orders", ("1", "a", 2), ("2", "b", 3), partitions=2)

    application = home.application(joined())
    found = application.check()
    home.run(joined())

    assert found is not None
    assert {f.store: str(f) for f in found.changes} == {
        "names": "moved; from stage 1 to stage 2",
        "orders": "new and empty",
    }
    assert sorted(home.read("joined")) == ["1 Ann", "1 Bob"]


def test_unnamed_stores_are_found_by_their_operators(home: Home) -> None:
    def counts(*odd_or_even: int, name: str | None = None) -> bm.StreamsBuilder:
        app = builder()
        for rest in odd_or_even:
            chosen = app.stream("in").filter(lambda value, rest=rest: value.cast("int") % 2 == rest)
            chosen.group_by_key().count(store=name).to_stream().to(f"out{rest}")
        return app

    put(home, "in", *[("k", str(n), n) for n in range(5)])
    home.run(counts(0, 1))
    # The second one has the number of the first now, then a name, then a number again.
    for program in (counts(1), counts(1, name="odd"), counts(1)):
        put(home, "in", ("k", "7", 7))
        home.run(program)

    assert latest(home, "out0") == {"k": 3}
    # Without its name the store is another one.
    assert home.read("out1", bm.Long()) == [2, 3, 4, 1]


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"size": 20}, "the store 'windows': its rows are of TimeWindows(size_ms=10, advance_ms=10), but"),
        ({"gap": 4}, "the store 'sessions': its rows are of SessionWindows(gap_ms=3), but"),
    ],
)
def test_windows_of_another_length_are_refused(home: Home, changes: dict[str, int], found: str) -> None:
    for topic in ("in", "others"):
        put(home, topic, ("a", "x", 1))
    home.run(windows())

    assert found in refused(home, windows(**changes))


def test_values_of_another_type_and_other_partitions_are_refused(home: Home) -> None:
    def last() -> bm.StreamsBuilder:
        app = builder()
        app.stream("in").group_by_key().reduce(lambda total, value: value, store="counts")
        return app

    def spread() -> bm.StreamsBuilder:
        app = builder()
        app.stream("in").repartition(partitions=3).group_by_key().count(store="counts").to_stream().to("out")
        return app

    put(home, "in", ("a", "x", 1))
    home.run(count())

    text = refused(home, last())
    assert "the store 'counts': it has values of bigint, but the program needs string" in text
    assert "Give the result a new name with store= instead of 'counts'." in text
    assert "its rows are spread over 1 partitions, but the program spreads them over 3" in refused(
        home, spread()
    )
    put(home, "in", ("a", "x", 2))
    home.run(count())
    assert latest(home, "out") == {"a": 2}


def test_retention_may_change(home: Home, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "brookmere.run.evolution.migration")
    for topic in ("in", "others"):
        put(home, topic, ("a", "x", 1))
    home.run(windows())
    put(home, "in", ("a", "x", 2), ("a", "x", 30))
    home.run(windows(retention=5000), store__type="rocksdb")

    assert latest(home, "closed") == {"a-0-10": 2}
    assert "changing: store windows: converted; from auto to rocksdb; retention 5000 ms" in caplog.text
