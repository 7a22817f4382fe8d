"""Aggregates with Python functions equal those with Columns, in all kinds of windows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.testing import TopologyTestDriver
from brookmere.topology.nodes import SourceNode

SEED = 8
LATEST = 400


@dataclass(frozen=True)
class Words:
    """The same functions, as Columns or as Python. A value "x" deletes, and none is seen as "_"."""

    step: Any
    fold: Any
    undo: Any
    remove: Any
    merge: Any


def _seen(value: Any) -> Any:
    return F.coalesce(value, F.lit("_"))


COLUMNS = Words(
    step=lambda value, folded: F.when(_seen(value) != "x", F.concat(folded, _seen(value))),
    fold=lambda folded, value: F.concat(folded, _seen(value)),
    undo=lambda value, folded: F.concat(folded, F.lit("-"), value),
    remove=lambda folded, value: F.concat(folded, F.lit("-"), value),
    merge=lambda one, other: F.concat(one, F.lit("&"), other),
)
PYTHON = Words(
    step=bm.python(lambda value, folded: None if value == "x" else folded + (value or "_"), returns=str),
    fold=bm.python(lambda folded, value: folded + (value or "_"), returns=str),
    undo=bm.python(lambda value, folded: f"{folded}-{value}", returns=str),
    remove=bm.python(lambda folded, value: f"{folded}-{value}", returns=str),
    merge=bm.python(lambda one, other: f"{one}&{other}", returns=str),
)

Program = Callable[[bm.StreamsBuilder, Words], bm.KTable]


def _aggregate(app: bm.StreamsBuilder, words: Words) -> bm.KTable:
    return app.stream("in").group_by_key().aggregate("", words.step, store="kept")


def _reduce(app: bm.StreamsBuilder, words: Words) -> bm.KTable:
    return app.stream("in").group_by_key().reduce(words.fold, store="kept")


def _of_a_table(app: bm.StreamsBuilder, words: Words) -> bm.KTable:
    grouped = app.table("in").group_by(lambda key, value: (F.substring(value, 1, 1), value))
    return grouped.aggregate("", words.step, words.undo, store="kept")


def _reduced_table(app: bm.StreamsBuilder, words: Words) -> bm.KTable:
    grouped = app.table("in").group_by(lambda key, value: (F.substring(value, 1, 1), value))
    return grouped.reduce(words.fold, words.remove, store="kept")


def _of_an_aggregate(app: bm.StreamsBuilder, words: Words) -> bm.KTable:
    first = app.stream("in").group_by_key().aggregate("", words.step, store="first")
    grouped = first.group_by(lambda key, value: (F.length(value).cast("string"), key))
    return grouped.aggregate("", words.step, words.undo, store="kept")


def _cogroup(app: bm.StreamsBuilder, words: Words) -> bm.KTable:
    one, other = (app.stream(topic).group_by_key() for topic in ("in", "more"))
    return one.cogroup(words.step).cogroup(other, words.step).aggregate("", store="kept")


def _windowed(windows: Any, **options: Any) -> Program:
    def fold(app: bm.StreamsBuilder, words: Words) -> bm.KTable:
        merger = {"merger": words.merge} if isinstance(windows, bm.SessionWindows) else {}
        windowed = app.stream("in").group_by_key().windowed_by(windows, late_to="late", **options)
        return windowed.aggregate("", words.step, store="kept", **merger)

    return fold


def _reduced(windows: Any, **options: Any) -> Program:
    def fold(app: bm.StreamsBuilder, words: Words) -> bm.KTable:
        windowed = app.stream("in").group_by_key().windowed_by(windows, **options)
        return windowed.reduce(words.fold, store="kept")

    return fold


def _cogrouped(windows: Any) -> Program:
    def fold(app: bm.StreamsBuilder, words: Words) -> bm.KTable:
        one, other = (app.stream(topic).group_by_key() for topic in ("in", "more"))
        merger = {"merger": words.merge} if isinstance(windows, bm.SessionWindows) else {}
        cogrouped = one.cogroup(words.step).cogroup(other, words.step).windowed_by(windows)
        return cogrouped.aggregate("", store="kept", **merger)

    return fold


WINDOWS = {
    "tumbling": bm.TimeWindows("20ms", grace="10ms"),
    "hopping": bm.TimeWindows("30ms", advance="10ms", grace="5ms"),
    "sliding": bm.SlidingWindows("15ms", grace="10ms"),
    "session": bm.SessionWindows("12ms", grace="10ms"),
    "unlimited": bm.UnlimitedWindows(50),
}
PROGRAMS: dict[str, Program] = {
    "aggregate": _aggregate,
    "reduce": _reduce,
    "table aggregate": _of_a_table,
    "table reduce": _reduced_table,
    "aggregate of an aggregate": _of_an_aggregate,
    "cogroup": _cogroup,
    **{name: _windowed(windows) for name, windows in WINDOWS.items()},
    **{
        f"{name} on close": _windowed(windows, emit="close", close_idle_after=timedelta(milliseconds=40))
        for name, windows in WINDOWS.items()
        if name != "unlimited"
    },
    **{f"{name} reduce": _reduced(WINDOWS[name]) for name in ("tumbling", "sliding", "session")},
    "cogrouped hopping": _cogrouped(WINDOWS["hopping"]),
    "cogrouped session": _cogrouped(WINDOWS["session"]),
}

Step = list[tuple[str, bm.Record]] | timedelta


def _steps(seed: int, most: int) -> Iterator[Step]:
    """Give batches of records out of order, with leaps of time and pauses between them."""
    chance = Random(seed)
    now = 0
    while now < LATEST:
        batch = []
        for _ in range(chance.randint(1, most)):
            now += chance.choice((0, 1, 2, 5, 9)) + (90 if chance.random() < 0.03 else 0)
            time = max(0, now - chance.choice((0, 0, 0, 3, 12, 40)))
            key, value = chance.choice(("a", "b", "é", None)), chance.choice(("a", "b", "c", "x", None))
            headers = (("h", str(now).encode()),) if chance.random() < 0.5 else ()
            record = bm.Record(key=key, value=value, timestamp=time, headers=headers)
            batch.append((chance.choice(("in", "in", "more")), record))
        yield batch
        if chance.random() < 0.2:
            yield timedelta(milliseconds=chance.choice((10, 30, 50)))


def _told(key: Any) -> Any:
    bounds = (key[bound].cast("string") for bound in ("start", "end"))
    return F.concat_ws("/", key["key"], *bounds)


def _results(
    program: Program, words: Words, steps: Sequence[Step], session: SparkSession, **options: Any
) -> dict[str, Any]:
    corrections = options.pop("corrections", ())
    restarts = options.pop("restarts", False)
    app = bm.StreamsBuilder("folds", key=bm.Text(), value=bm.Text(), corrections=corrections)
    table = program(app, words)
    is_windowed = isinstance(table._key, bm.Windowed)
    table.to_stream(*((lambda key, value: _told(key),) if is_windowed else ())).to("out", key=bm.Text())
    topology = app.build()
    topics = {topic for node in topology.nodes if isinstance(node, SourceNode) for topic in node.topics}
    with TopologyTestDriver(topology, session=session, **options) as driver:
        for step in steps:
            if isinstance(step, timedelta):
                driver.advance_wall_clock(step)
            else:
                driver.pipe_records([record for record in step if record[0] in topics])
            if restarts:
                driver.restart()
        outputs = [topic for topic in ("out", "late") if topic in topology.describe()]
        written = {
            topic: driver.output_topic(topic, key=bm.Text(), value=bm.Text()).read_records_to_list()
            for topic in outputs
        }
        kept = sorted(driver.store("kept").rows(), key=repr)
        return {**written, "kept": kept, "counters": driver.counters}


def _options() -> Iterator[tuple[str, dict[str, Any]]]:
    yield from ((name, {}) for name in PROGRAMS)
    for name in (
        "aggregate",
        "aggregate of an aggregate",
        "cogroup",
        "hopping",
        "session",
        "cogrouped session",
    ):
        yield name, {"emit": "last"}
    for name in ("tumbling", "session", "hopping on close", "session on close"):
        yield name, {"corrections": "all"}
    for name in ("aggregate", "hopping", "sliding on close", "session"):
        yield name, {"store_type": "rocksdb"}


OPTIONS = list(_options())


@pytest.mark.parametrize(("name", "options"), OPTIONS, ids=[f"{name} {kind}" for name, kind in OPTIONS])
def test_python_folds_equal_column_folds_even_with_a_restart_after_every_batch(
    spark: SparkSession, name: str, options: dict[str, Any]
) -> None:
    steps = list(_steps(SEED, 12))

    expected = _results(PROGRAMS[name], COLUMNS, steps, spark, **options)

    assert expected["out"]
    assert _results(PROGRAMS[name], PYTHON, steps, spark, restarts=True, **options) == expected


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("greatest", [max, lambda *both: max(both)], ids=["built-in", "any number"])
def test_reducer_without_a_signature_receives_the_aggregate_and_the_value(
    greatest: Callable[..., Any],
) -> None:
    app = bm.StreamsBuilder("greatest", key=bm.Text(), value=bm.Long())
    app.stream("in").group_by_key().reduce(bm.python(greatest)).to_stream().to("out")

    with TopologyTestDriver(app) as driver:
        driver.input_topic("in").pipe_key_values([("a", 3), ("a", 1), ("a", 7)])

        assert driver.output_topic("out").read_values_to_list() == [3, 3, 7]


def test_initial_value_of_another_type_is_refused_at_the_line_of_the_step(
    spark: SparkSession,
) -> None:
    app = bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text())
    app.stream("in").group_by_key().aggregate("none", bm.python(lambda total: total + 1, returns=int))

    with pytest.raises(
        bm.errors.ExpressionError,
        match=r"initial value of aggregate does not fit: expected an integer, found str 'none' "
        r"\(.*test_python_aggregates\.py:\d+\)\. Convert it, or change returns=",
    ):
        TopologyTestDriver(app, session=spark)


def _fold_some(value: str | None, folded: str) -> str | None:
    if value == "fail":
        raise ValueError("such a value")
    return None if value == "x" else folded + (value or "_")


@pytest.mark.parametrize(
    "name", ["aggregate", "tumbling", "hopping", "sliding", "session", "table aggregate"]
)
def test_record_that_fails_leaves_the_aggregates_as_they_were(spark: SparkSession, name: str) -> None:
    words = replace(PYTHON, step=bm.python(_fold_some, returns=str))
    chance = Random(SEED)
    values = [chance.choice(("a", "b", "x", "fail", "fail")) for _ in range(100)]
    records = [
        # Each key of a table has one value: the old value of an update that failed was never added.
        bm.Record(
            key=str(at) if name == "table aggregate" else chance.choice("ab"), value=value, timestamp=2 * at
        )
        for at, value in enumerate(values)
    ]

    one_batch: Step = [("in", record) for record in records]
    mixed = _results(PROGRAMS[name], words, [one_batch], spark, on_error="continue")
    alone = _results(
        PROGRAMS[name], words, [[("in", record)] for record in records], spark, on_error="continue"
    )

    assert mixed == alone
    assert mixed["out"]


def test_initial_value_is_made_for_each_row_and_sent_as_the_first_old_value(spark: SparkSession) -> None:
    made = iter(range(100, 1000, 100))
    app = bm.StreamsBuilder("app", key=bm.Text(), value=bm.Long())
    totals = (
        app.stream("in")
        .group_by_key()
        .aggregate(lambda: next(made), bm.python(lambda value, total: total + value, returns=int))
    )
    grouped = totals.group_by(bm.python(lambda key, value: ("all", value), returns=(str, int)))
    changes = grouped.aggregate(
        "",
        bm.python(lambda value, text: f"{text}+{value}", returns=str),
        bm.python(lambda value, text: f"{text}-{value}", returns=str),
    )
    changes.to_stream().to("out", value=bm.Text())

    with TopologyTestDriver(app, session=spark) as driver:
        driver.input_topic("in").pipe_key_values([("a", 1), ("b", 1), ("a", 1)])

        assert driver.output_topic("out").read_values_to_list()[-1].endswith("-101+102")


def test_subtractor_that_returns_none_lets_the_adder_start_from_the_initial_value(
    spark: SparkSession,
) -> None:
    def subtract(value: str, folded: str) -> str | None:
        return None if value == "all" else f"{folded}-{value}"

    app = bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text())
    grouped = app.table("in").group_by(bm.python(lambda key, value: ("g", value), returns=(str, str)))
    add = bm.python(lambda value, folded: f"{folded}+{value}", returns=str)
    grouped.aggregate("0", add, bm.python(subtract, returns=str)).to_stream().to("out")
    records = [("a", "all", 7), ("a", "b", 3), ("a", "c", 9), ("b", "all", 4), ("b", None, 5), ("a", "d", 2)]
    batch = [("in", bm.Record(key=key, value=value, timestamp=time)) for key, value, time in records]

    with TopologyTestDriver(app, session=spark) as driver:
        driver.pipe_records(batch)

        written = driver.output_topic("out").read_records_to_list()

    assert [(record.value, record.timestamp) for record in written] == [
        ("0+all", 7),
        ("0+b", 7),
        ("0+b-b+c", 9),
        ("0+b-b+c+all", 9),
        (None, 9),
        ("0+d", 2),
    ]


def test_records_that_an_aggregate_leaves_out_are_counted_once(spark: SparkSession) -> None:
    app = bm.StreamsBuilder("app", key=bm.Text(), value=bm.Long())
    windowed = app.stream("in").group_by_key().windowed_by(bm.TimeWindows("10ms", grace="0ms"))
    windowed.aggregate(0, bm.python(lambda value, total: total + value, returns=int), name="total")

    with TopologyTestDriver(app, session=spark) as driver:
        driver.pipe_records([
            ("in", bm.Record(key=key, value=1, timestamp=time))
            for key, time in (("a", 25), ("a", 4), (None, 26))
        ])  # fmt: skip

        assert driver.counters["total"] == {
            "received": 3,
            "forwarded": 1,
            "dropped": 2,
            "failed": 0,
            "late": 1,
        }
