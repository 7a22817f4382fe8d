"""Spark's reports become the progress of an application."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from brookmere.run.progress import ProgressReader

NODES = {
    "source": {"received": 7, "forwarded": 5, "dropped": 0, "failed": 2},
    "sink": {"received": 5, "forwarded": 0, "dropped": 0, "failed": 1},
}
START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class Report:
    """What Spark hands over for a batch."""

    content: dict[str, Any]

    def json(self) -> str:
        return json.dumps(self.content)


def report(batch: int, *, at: float, seconds: float, records: int, lag: int = 0) -> Report:
    time = (START + timedelta(seconds=at)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return Report(
        {
            "timestamp": time,
            "batchId": batch,
            "batchDuration": int(seconds * 1000),
            "numInputRows": records,
            "durationMs": {"addBatch": 80, "walCommit": 5, "triggerExecution": 100, "getBatch": 0},
            "sources": [{"metrics": {"lag": str(lag)}}],
            "stateOperators": [
                {"memoryUsedBytes": 1000, "customMetrics": {"rocksdbSstFileSize": 200}},
                {"memoryUsedBytes": 10, "customMetrics": {}},
            ],
        }
    )


def idle(batch: int, *, at: float) -> Report:
    empty = report(batch, at=at, seconds=0, records=0)
    empty.content["durationMs"] = {"latestOffset": 1, "triggerExecution": 1}
    return empty


def test_report_becomes_progress() -> None:
    (progress,) = ProgressReader().read([report(4, at=1, seconds=0.1, records=50, lag=9)], NODES)

    assert (progress.batch, progress.records, progress.total_records, progress.lag) == (4, 50, 50, 9)
    assert progress.started == START + timedelta(seconds=1)
    assert progress.duration == timedelta(milliseconds=100)
    assert progress.records_per_second == pytest.approx(500)
    assert progress.state_bytes == 1210
    assert progress.skipped == 3
    assert progress.nodes == NODES
    assert progress.phases == {"begin": timedelta(milliseconds=5), "run": timedelta(milliseconds=80)}


def test_each_batch_is_reported_once_and_idle_reports_never() -> None:
    reader = ProgressReader()
    reports = [report(0, at=0, seconds=1, records=10), idle(1, at=1)]

    first = list(reader.read(reports, {}))
    reports += [report(1, at=2, seconds=1, records=20), report(2, at=3, seconds=1, records=30)]
    second = list(reader.read(reports, {}))
    reports += [idle(3, at=10)]

    assert [p.batch for p in first] == [0]
    assert [(p.batch, p.total_records) for p in second] == [(1, 30), (2, 60)]
    assert list(reader.read(reports, {})) == []


def test_rate_follows_slowly_and_counts_the_time_between_batches() -> None:
    reader = ProgressReader()
    steady = [report(n, at=n, seconds=0.1, records=1000) for n in range(30)]

    rates = [p.records_per_second for p in reader.read(steady, {})]

    assert rates[0] == pytest.approx(10_000)
    assert rates == sorted(rates, reverse=True)
    assert rates[1] > 8_000
    assert rates[-1] == pytest.approx(1000, rel=0.05)


def test_rate_fades_when_nothing_follows() -> None:
    reader = ProgressReader()
    (progress,) = reader.read([report(0, at=0, seconds=2, records=1000)], {})

    def rate(seconds: float) -> float:
        return reader.seen_at(progress, START + timedelta(seconds=seconds)).records_per_second

    assert rate(2) == rate(4) == 500
    assert rate(7) == pytest.approx(250)
    assert rate(100) < 0.1
    assert reader.seen_at(progress, START + timedelta(seconds=50)).total_records == 1000
