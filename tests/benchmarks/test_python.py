"""What the benchmark of Python code says of its records, rates and marks, without a broker."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.kafka.workloads import PARTITIONS
from benchmarks.python.contestants import OWN, QUIX, Contestant
from benchmarks.python.measuring import Result
from benchmarks.python.report import Report
from benchmarks.python.workloads import Workload
from brookmere.serde import partition_for

COUNT = Workload("count", 100_000, 1000)


def result(contestant: Contestant, per_second: float, per_cpu_second: float) -> Result:
    records = 600_000
    return Result(contestant, COUNT, 1.0, records, records / per_second, records / per_cpu_second, records)


def test_keys_are_equally_frequent_and_in_kafkas_partition() -> None:
    records = list(Workload("count", 50, 1000).load())

    assert set(Counter(key for key, *_ in records).values()) == {20}
    assert all(partition == partition_for(key, PARTITIONS) for key, _, _, partition in records)


def test_marks_are_the_rate_on_two_cores_and_the_ratio_to_quix_per_core() -> None:
    report = Report({}, [result(OWN, 200_000, 120_000), result(QUIX, 30_000, 20_000)], is_trial=False)

    rate, ratio = report.goals()

    assert (rate.is_met, ratio.is_met) == (True, True)
    assert ratio.found == pytest.approx(6.0)


def test_rates_of_all_contestants_are_in_one_table() -> None:
    report = Report({}, [result(OWN, 200_000, 120_000), result(QUIX, 30_000, 20_000)], is_trial=True)

    rows = report.tables()[1].rows

    assert rows[1][1:5] == (QUIX.name, "30,000", "20,000", "6.0")
