"""A program that changes between two runs keeps the state of the stores that stay."""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.run import settling
from tests.run.homes import Home

pytestmark = pytest.mark.usefixtures("spark")

Program = Callable[[], bm.StreamsBuilder]


def builder() -> bm.StreamsBuilder:
    return bm.StreamsBuilder("changing", key=bm.Text(), value=bm.Text())


def put(home: Home, topic: str, *records: tuple[str, str, int], partitions: int = 1) -> None:
    found = home.topics.create(topic, partitions, exist_ok=True)
    found.append([bm.Record(key.encode(), value.encode(), time) for key, value, time in records])


def latest(home: Home, topic: str, value: bm.Serde | None = None) -> dict[str, Any]:
    """Return the last value of each key, as it was written."""
    serde = value or bm.Long()
    found = home.topics[topic]
    records = [record for p in range(found.partitions) for record in found.read(p)]
    return {record.key.decode(): serde.deserialize(record.value) for record in records}


def identity(home: Home) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((home.directory / "state/changing/application.json").read_text())
    return content


def refused(home: Home, program: bm.StreamsBuilder, **settings: Any) -> str:
    """Return why a program is refused, after a look that nothing was changed."""
    directory = home.directory / "state" / "changing"
    before = {path.name for path in directory.iterdir()}, identity(home)
    application = home.application(program, **settings)
    found = application.check()
    with pytest.raises(bm.StateError) as caught:
        application.start()
    assert ({path.name for path in directory.iterdir()}, identity(home)) == before
    assert found is not None
    assert not found.is_possible
    return str(caught.value)


def count() -> bm.StreamsBuilder:
    app = builder()
    app.stream("in").group_by_key().count(store="counts").to_stream().to("out")
    return app


def with_more() -> bm.StreamsBuilder:
    """Add a store before and one behind, with operators that shift all numbers."""
    app = builder()
    records = app.stream("in").filter(lambda value: value != "skip").map_values(lambda value: F.upper(value))
    grouped = records.group_by_key()
    grouped.reduce(lambda total, value: F.concat(total, value), store="texts").to_stream().to("texts")
    grouped.count(store="counts").to_stream().to("out")
    return app


def repartitioned() -> bm.StreamsBuilder:
    """Add a repartition in front, and one with a store behind it."""
    app = builder()
    records = app.stream("in").select_key(lambda key, value: key)
    counts = records.group_by_key().count(store="counts").to_stream()
    counts.to("out")
    lengths = counts.group_by(lambda key, value: F.length(key).cast("string"))
    lengths.reduce(lambda total, value: total + value, store="lengths").to_stream().to("lengths")
    return app


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


def test_state_directory_may_be_moved(home: Home) -> None:
    put(home, "in", ("a", "x", 1))
    home.run(count())
    put(home, "in", ("a", "x", 2))
    (home.directory / "state").rename(home.directory / "elsewhere")

    home.run(count(), state__dir=home.directory / "elsewhere")

    assert home.read("out", bm.Long()) == [1, 2]


def test_moved_state_directory_finishes_the_batch_that_was_begun(home: Home) -> None:
    put(home, "in", ("a", "x", 1))
    home.run(count())
    put(home, "in", ("a", "x", 2))
    home.run(count())
    moved = (home.directory / "state").rename(home.directory / "elsewhere")
    (last,) = moved.glob("*/checkpoint/commits/1")
    last.unlink()

    put(home, "in", ("a", "x", 3))
    home.run(count(), state__dir=moved)

    assert home.read("out", bm.Long()) == [1, 2, 3]


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


def windows(
    extra: bool = False, *, size: int = 10, gap: int = 3, retention: int | None = None
) -> bm.StreamsBuilder:
    """Count in windows and in sessions, hold results back, join two streams; `extra` moves all that on."""
    app = builder()
    if extra:
        values = app.stream("in").group_by(lambda key, value: value).count(store="values").to_stream()
        values.to("values", value=bm.Long())
        lengths = values.group_by(lambda key, value: F.length(key).cast("string"))
        lengths.count(store="lengths").to_stream().to("values", value=bm.Long())
    records = app.stream("in")
    if extra:
        records = records.map_values(lambda value: value).select_key(lambda key, value: key)
    grouped = records.group_by_key()
    kept = {} if retention is None else {"retention": timedelta(milliseconds=retention)}
    tumbling = bm.TimeWindows(timedelta(milliseconds=size))
    counts = grouped.windowed_by(tumbling).count(store="windows", **kept)
    _write(counts.suppress(bm.until_window_closes(), name="held").to_stream(), "closed")
    sessions = bm.SessionWindows(timedelta(milliseconds=gap), grace=timedelta(milliseconds=5))
    _write(grouped.windowed_by(sessions).count(store="sessions").to_stream(), "sessions")
    near = bm.JoinWindows(timedelta(milliseconds=4), grace=timedelta(milliseconds=5))
    others = app.stream("others")
    pairs = records.outer_join(others, lambda x, y: F.concat_ws("-", x, y), windows=near, store="pair")
    pairs.to("pairs")
    return app


def _write(table: Any, topic: str) -> None:
    table.map(lambda key, value: (F.concat_ws("-", key["key"], key["start"], key["end"]), value)).to(
        topic, value=bm.Long()
    )


def tables(extra: bool = False) -> bm.StreamsBuilder:
    """Look into a table with history, into one by foreign key and into one whose rows die; drop doubles."""
    app = builder()
    records = app.stream("in")
    if extra:
        values = records.group_by(lambda key, value: value).count(store="values").to_stream()
        lengths = values.group_by(lambda key, value: F.length(key).cast("string"))
        lengths.count(store="lengths").to_stream().to("values", value=bm.Long())
        records = records.map_values(lambda value: value).select_key(lambda key, value: key)
    short = timedelta(milliseconds=5)
    records.dedupe(within=short, store="once").to("once")
    old = app.table("others", store="history", history=timedelta(milliseconds=50))
    both = lambda x, y: F.concat_ws("-", x, y)  # noqa: E731
    records.join(old, both, grace=short, name="waiting").to("waited")
    living = app.table("living", store="living", ttl=timedelta(milliseconds=10))
    living.to_stream().to("lived")
    references = app.table("references", store="references")
    references.left_join(living, both, foreign_key=lambda value: value, store="found").to_stream().to("found")
    return app


PARTS: list[dict[str, list[tuple[str, str, int]]]] = [
    {
        "in": [("a", "x", 1), ("a", "x", 2), ("b", "x", 2)],
        "others": [("a", "o", 3), ("b", "o", 1)],
        "living": [("a", "l", 1), ("b", "l", 9)],
        "references": [("1", "a", 2), ("2", "b", 3)],
    },
    {
        "in": [("a", "x", 4), ("a", "x", 25), ("b", "x", 26)],
        "others": [("b", "p", 3), ("a", "p", 24)],
        "living": [("a", "m", 12)],
        "references": [("1", "b", 5), ("3", "a", 6)],
    },
    {
        "in": [("a", "x", 3), ("b", "x", 28), ("a", "x", 42)],
        "others": [("a", "q", 22), ("b", "q", 44)],
        "living": [("b", "n", 40), ("a", "n", 40)],
        "references": [("2", "a", 41)],
    },
]


@pytest.mark.parametrize(
    ("program", "kinds", "results"),
    [
        (windows, ("memory", "rocksdb", "auto"), ("closed", "sessions", "pairs")),
        (tables, ("auto", "auto", "auto"), ("once", "waited", "lived", "found")),
    ],
)
def test_open_windows_buffers_and_tables_go_on(
    tmp_path: Path,
    program: Callable[[bool], bm.StreamsBuilder],
    kinds: tuple[str, ...],
    results: tuple[str, ...],
) -> None:
    calm, changed = Home(tmp_path / "calm"), Home(tmp_path / "changed")
    for home, versions in ((calm, (False, False, False)), (changed, (False, True, False))):
        for part, extra, kind in zip(PARTS, versions, kinds, strict=True):
            for topic, records in part.items():
                put(home, topic, *records, partitions=2)
            chosen = "auto" if home is calm else kind
            home.run(program(extra), store__type=chosen, statestore__cache__max__bytes=0)

    for topic in results:
        assert _log(changed, topic) == _log(calm, topic)
        assert any(_log(calm, topic))


def _log(home: Home, topic: str) -> list[list[Any]]:
    found = home.topics[topic]
    return [[(r.key, r.value, r.timestamp) for r in found.read(p)] for p in range(found.partitions)]


def test_copy_of_a_table_begins_with_the_rows_of_the_table(home: Home) -> None:
    def tables(joined: bool) -> bm.StreamsBuilder:
        app = builder()
        left, right = app.table("left", store="lefts"), app.table("right", store="rights")
        left.to_stream().to("out", value=bm.Text())
        right.to_stream().to("out", value=bm.Text())
        if joined:
            pairs = left.join(right, lambda x, y: F.concat_ws("-", x, y), foreign_key=lambda value: value)
            pairs.to_stream().to("pairs")
        return app

    put(home, "left", ("1", "a", 0), partitions=2)
    put(home, "right", ("a", "Ann", 1), ("b", "Bob", 1), partitions=2)
    home.run(tables(joined=False))
    put(home, "left", ("1", "b", 2), ("2", "a", 3))
    home.run(tables(joined=True))

    assert sorted(home.read("pairs")) == ["a-Ann", "b-Bob"]


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
        ({"size": 20}, "the store 'windows': its rows are of TimeWindows(size_ms=10, advance_ms=10), and"),
        ({"gap": 4}, "the store 'sessions': its rows are of SessionWindows(gap_ms=3), and"),
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
    assert "the store 'counts': it has values of bigint, and the program needs string" in text
    assert "Give the result a store= of a new name in place of 'counts'." in text
    assert "its rows are spread over 1 partitions, and the program spreads them over 3" in refused(
        home, spread()
    )
    put(home, "in", ("a", "x", 2))
    home.run(count())
    assert latest(home, "out") == {"a": 2}


def test_retention_may_change(home: Home, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "brookmere.run.settling")
    for topic in ("in", "others"):
        put(home, topic, ("a", "x", 1))
    home.run(windows())
    put(home, "in", ("a", "x", 2), ("a", "x", 30))
    home.run(windows(retention=5000), store__type="rocksdb")

    assert latest(home, "closed") == {"a-0-10": 2}
    assert "changing: store windows: converted; from auto to rocksdb; retention 5000 ms" in caplog.text


def test_batch_that_has_written_is_finished_by_its_own_version(home: Home) -> None:
    put(home, "in", ("a", "x", 1))
    checkpoint = home.run(count()).state_directory / "checkpoint"
    # The process was killed when the records of the batch were in the topic, and the batch not finished.
    (checkpoint / "commits" / "0").unlink()
    put(home, "in", ("a", "x", 2))

    with pytest.raises(bm.StateError) as caught:
        home.application(repartitioned()).start()
    text = str(caught.value)
    assert "batch 0 of the version that ran before has written to the topic 'changing-counts-" in text
    assert "and was not finished" in text
    assert "Start that version once" in text
    home.run(count())
    home.run(repartitioned())

    assert home.read("out", bm.Long()) == [1, 2]


def test_batch_that_has_written_nothing_is_done_again(home: Home) -> None:
    put(home, "in", ("a", "x", 1))
    checkpoint = home.run(count()).state_directory / "checkpoint"
    shutil.copy(checkpoint / "offsets" / "0", checkpoint / "offsets" / "1")
    put(home, "in", ("a", "x", 2))

    home.run(repartitioned())

    assert home.read("out", bm.Long()) == [1, 2]


@pytest.mark.parametrize("point", ["write_identity", "sweep"])
def test_move_that_ends_in_the_midst_leaves_one_state_whole(
    home: Home, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    put(home, "in", ("a", "x", 1))
    home.run(count())
    put(home, "in", ("a", "x", 2))
    calls: list[int] = []
    original = getattr(settling, point)

    def dies(*arguments: Any) -> None:
        calls.append(1)
        # The first sweep is the one before the move.
        if point == "write_identity" or len(calls) == 2:
            raise KeyboardInterrupt
        original(*arguments)

    monkeypatch.setattr(settling, point, dies)
    with pytest.raises(KeyboardInterrupt):
        home.application(repartitioned()).start()
    monkeypatch.undo()
    directory = home.directory / "state" / "changing"
    assert {p.name for p in directory.glob("checkpoint*")} == {"checkpoint", "checkpoint-2"}
    is_new = point == "sweep"
    assert identity(home)["checkpoint"] == ("checkpoint-2" if is_new else "checkpoint")

    home.run(repartitioned() if is_new else count())

    assert home.read("out", bm.Long()) == [1, 2]
    assert len(list(directory.glob("checkpoint*"))) == 1


def test_global_table_is_there_in_new_tasks(home: Home) -> None:
    def program(*inputs: str) -> bm.StreamsBuilder:
        app = builder()
        names = app.global_table("names", store="names")
        for topic in inputs:
            joined = app.stream(topic).join(
                names, lambda value, name: F.concat_ws("-", value, name), key=lambda key, value: value
            )
            joined.to("out")
        return app

    put(home, "names", ("a", "Ann", 0), ("b", "Bob", 0))
    put(home, "one", ("k", "a", 1))
    home.run(program("one"))
    put(home, "four", *[(key, "b", 2) for key in "klmnopqr"], partitions=4)
    home.run(program("one", "four"))

    assert home.read("out") == ["a-Ann", *["b-Bob"] * 8]


VICTIM = """
import os, signal, sys
from brookmere.run import settling
from tests.run.homes import Home
from tests.run.test_evolution import repartitioned

settling.write_identity = lambda *arguments: os.kill(os.getpid(), signal.SIGKILL)
Home(settling.Path(sys.argv[1])).run(repartitioned())
"""


@pytest.mark.slow
def test_process_that_is_killed_while_it_moves_the_state_leaves_the_old_one(home: Home) -> None:
    put(home, "in", ("a", "x", 1))
    home.run(count())
    put(home, "in", ("a", "x", 2))
    root = Path(__file__).resolve().parents[2]
    process = subprocess.Popen(
        [sys.executable, "-c", VICTIM, str(home.directory)], cwd=root, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert process.wait(240) == -signal.SIGKILL
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    directory = home.directory / "state" / "changing"
    assert (directory / "checkpoint-2" / "commits" / "0").exists()

    home.run(repartitioned())

    assert home.read("out", bm.Long()) == [1, 2]
    assert [path.name for path in directory.glob("checkpoint*")] == ["checkpoint-2"]
