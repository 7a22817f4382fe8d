"""What the benchmark of windows and joins says of its cases, topics and goals, without running one."""

from __future__ import annotations

import sys

import pytest

from benchmarks.measure import Batch
from benchmarks.operators.cases import NATIVE, SHAPES, TURNS, Case, contestants
from benchmarks.operators.data import LEFT, RIGHT, Feed
from benchmarks.operators.goals import goals, growing, rival
from benchmarks.operators.report import Report
from benchmarks.options import arguments
from benchmarks.rounds import Result


def result(case: Case, keys: int, *, add_ms: int = 100, cpu_ns: int = 1_000_000) -> Result[Case, Feed]:
    batch = Batch(3, cpu_ns, trigger_ms=add_ms + 10, add_ms=add_ms, commit_ms=1, stages=[])
    return Result(case, Feed(case.shape, keys, 1000), [batch])


def test_every_shape_takes_its_turn_once() -> None:
    taken = [shape for turn in TURNS for shape in turn]

    assert sorted(taken) == sorted(SHAPES)


@pytest.mark.parametrize("shape", SHAPES)
def test_spark_is_a_contestant_where_it_can_do_the_same(shape: str) -> None:
    cases = contestants((shape,), ("memory", "rocksdb"))  # type: ignore[arg-type]

    assert [case.store for case in cases] == [*([None] if shape in NATIVE else []), "memory", "rocksdb"]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rows", [4, 1000, 400_000])
def test_the_records_of_each_topic_divide_into_two_partitions(shape: str, rows: int) -> None:
    sizes = Feed(shape, 1000, rows).sizes  # type: ignore[arg-type]

    assert sum(sizes.values()) == rows
    assert all(size > 0 and size % 2 == 0 for size in sizes.values())


def test_a_key_comes_again_only_when_its_join_window_has_closed() -> None:
    feed = Feed("inner", 100_000, 200_000)
    again_ms = 100_000  # 100,000 keys, and as many left records in the 100 s of a batch

    match_ms = again_ms * feed.shift // feed.keys

    assert match_ms < feed.within_ms < again_ms - match_ms


@pytest.mark.parametrize(("keys", "active"), [(1000, 250), (1_000_000, 200_000)])
def test_a_session_has_at_least_two_records_in_a_batch_and_none_in_the_next_three(
    keys: int, active: int
) -> None:
    feed = Feed("session", keys, 400_000)

    assert feed.active == active
    assert feed.rows >= 2 * feed.active
    assert feed.keys >= 4 * feed.active


def test_a_join_runs_until_the_state_has_its_final_size() -> None:
    assert Feed("table", 1_000_000, 400_000).fill == 10
    assert Feed("inner", 1_000_000, 200_000).fill == 6
    assert Feed("foreign", 1_000_000, 100_000).sizes == {LEFT: 90_000, RIGHT: 10_000}
    assert Feed("foreign", 1_000_000, 100_000).fill == 12


def test_the_rival_is_sparks_own_query_or_count_by_key_in_the_same_store() -> None:
    cases = [Case("tumbling"), Case("tumbling", "memory"), Case("count", "memory"), Case("table", "memory")]
    results = {(case, 1000): result(case, 1000) for case in cases}

    found = {case: rival(results, case, 1000) for case in (*cases, Case("table", "rocksdb"))}

    assert found[cases[1]] == results[cases[0], 1000]
    assert found[cases[3]] == results[cases[2], 1000]
    assert found[Case("table", "rocksdb")] is None


def test_goals_compare_speed_at_100_000_keys_and_cost_from_10_000_to_1_000_000() -> None:
    native, own = Case("tumbling"), Case("tumbling", "memory")
    results = {
        (case, keys): result(case, keys, add_ms=120 if case == native else 100, cpu_ns=keys * 10)
        for case in (native, own)
        for keys in (10_000, 100_000, 1_000_000)
    }

    speed, growth = goals(results)

    assert (speed.found, speed.is_met) == (pytest.approx(1.2), True)
    assert (growth.found, growth.is_met) == (pytest.approx(100), False)


def test_nothing_grows_with_one_number_of_keys() -> None:
    case = Case("session", "memory")

    assert growing({(case, 1000): result(case, 1000)}) == []


def test_the_report_shows_ratios_if_there_is_a_rival() -> None:
    cases = [Case("inner"), Case("inner", "memory"), Case("foreign", "memory")]
    results = {(case, 1000): result(case, 1000, add_ms=200 if case.store is None else 100) for case in cases}

    _, throughput = Report({}, results, []).tables()

    assert [row[4] for row in throughput.rows if row] == ["1.00", "2.00", "-"]


@pytest.mark.parametrize(
    ("given", "said"),
    [("--cases tumbling,sideways", "'sideways' is unknown"), ("--keys 1001", "must be even for joins")],
)
def test_wrong_options_are_refused(
    given: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--only", "operators", *given.split()])

    with pytest.raises(SystemExit):
        arguments()

    assert said in capsys.readouterr().err
