"""What the benchmark on Kafka says of its records, contestants and goals, without a broker."""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.failures import QueryFailedError
from benchmarks.kafka.contestants import CONTESTANTS, OWN, RIVAL, Contestant
from benchmarks.kafka.goals import goals
from benchmarks.kafka.kinds import RIVALS, WINDOW_MS
from benchmarks.kafka.latency import Latency
from benchmarks.kafka.processes import Child, tree
from benchmarks.kafka.report import Report
from benchmarks.kafka.throughput import Cold, Drain, Result
from benchmarks.kafka.workloads import PARTITIONS, Workload, workloads
from brookmere.serde import partition_for

TALKER = """
import sys, time
print("something else", flush=True)
print("running", flush=True)
print('batch {"records": 5, "run": 0.5}', flush=True)
print("processed 5", int(time.time() * 1000), flush=True)
sys.stdin.read()
"""


def result(contestant: Contestant, workload: Workload, seconds: float) -> Result:
    drains = [Drain(seconds * 2, 9.0, 2.0), Drain(seconds, 4.0, 3.0)]
    return Result(contestant, workload, Cold(1.0, seconds), drains, written=300)


def test_every_contestant_has_its_short_name() -> None:
    assert tuple(one.short for one in CONTESTANTS) == RIVALS


@pytest.mark.parametrize("workload", workloads(records=100, keys=50), ids=lambda one: one.kind)
def test_records_go_on_from_load_to_load_in_the_partitions_of_their_keys(workload: Workload) -> None:
    loads = [record for number in range(3) for record in workload.load(number)]

    assert len(loads) == 3 * workload.records
    assert [time_ms for _, _, time_ms, _ in loads] == sorted(time_ms for _, _, time_ms, _ in loads)
    assert all(
        partition == partition_for(key, PARTITIONS) for key, _, _, partition in loads if key is not None
    )


def test_counts_of_windows_follow_from_the_times_of_the_records() -> None:
    workload = Workload("windows", records=150_000, keys=10)

    expected = workload.expected(1)

    starts = Counter[str]()
    for window, count in expected.items():
        starts[window.partition("@")[2]] += count
    assert sorted(starts.values()) == [50_000, 100_000]
    assert {int(start) % WINDOW_MS for start in starts} == {0}


def test_each_click_is_joined_with_the_region_of_its_user() -> None:
    workload = Workload("join", records=100, keys=50)
    table = {key.decode(): value.decode() for key, value in workload.table}

    joined = workload.expected(1)

    assert joined.total() == 100
    for shown in joined:
        user, _, value = shown.partition(":")
        assert value.split(" ")[1] == table[user]


def test_kafka_streams_processes_words_again_behind_their_topic() -> None:
    sentences = Workload("words", records=10)
    clicks = Workload("join", records=10, keys=50)

    assert RIVAL.processed(sentences, 2) == 20 + sentences.expected(2).total()
    assert OWN.processed(sentences, 2) == 20
    assert RIVAL.processed(clicks, 2) == OWN.processed(clicks, 2) == 70


def test_goals_are_set_against_kafka_streams_with_exactly_once() -> None:
    workload = Workload("keys", 100, 10)
    results = {(workload, one): result(one, workload, seconds) for one, seconds in ((RIVAL, 3.0), (OWN, 2.0))}
    latencies = [Latency(OWN, workload, [100.0, 200.0, 301.0]), Latency(RIVAL, workload, [400.0])]

    speed, latency = goals(results, latencies)

    assert (speed.found, speed.is_met) == (pytest.approx(1.5), True)
    assert (latency.found, latency.is_met) == (200.0, True)


def test_the_report_shows_ratios_and_works_without_the_rival() -> None:
    workload = Workload("keys", 100, 10)
    alone = {(workload, OWN): result(OWN, workload, 2.0)}
    both = {(workload, RIVAL): result(RIVAL, workload, 4.0), **alone}

    ratios = [Report({}, results, [], []).tables()[1].rows[-1][2:6] for results in (alone, both)]

    assert ratios == [("50", "-", "40000.00", "-"), ("50", "2.00", "40000.00", "1.00")]
    assert Report({}, both, [], []).document()["throughput"][0]["written_per_record"] == 1.0


def test_phases_are_shown_if_batches_were_reported() -> None:
    workload = Workload("keys", 100, 10)
    told = result(OWN, workload, 2.0)
    told.drains[1].batches.extend([{"records": 60, "run": 0.5}, {"records": 40, "run": 1.25}])

    titles = [
        table.title for table in Report({}, {(workload, OWN): result(OWN, workload, 2.0)}, [], []).tables()
    ]
    phases = Report({}, {(workload, OWN): told}, [], []).tables()[3]

    assert not any("time goes" in title for title in titles)
    assert phases.rows == [("count by key, 10 keys", "2", "2.00", "1.75", "0.25")]


def test_a_child_reports_its_progress_until_its_input_ends(tmp_path: Path) -> None:
    with Child("talker", [sys.executable, "-c", TALKER], tmp_path / "log") as child:
        deadline = time.monotonic() + 30
        while child.processed < 5 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert child.is_running
        assert child.batches == [{"records": 5, "run": 0.5}]
        assert child.launched - 1 < child.processed_at <= time.time()
        assert tree(child.pid)[0] == child.pid
        child.hold()

        child.stop()

    assert (tmp_path / "log").read_text() == "something else\n"


def test_a_child_that_ended_by_itself_is_reported_with_its_last_output(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; sys.exit('no topic')"]
    child = Child("mute", command, tmp_path / "log")

    with pytest.raises(QueryFailedError, match="mute ended with 1:\nno topic"):
        child.stop()

    child.kill()
