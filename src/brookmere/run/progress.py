"""The progress of an application, batch by batch, read from Spark's reports."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

Counters = Mapping[str, Mapping[str, int]]

_HALF_LIFE_SECONDS = 3.0
_SHOWN_PHASES = {
    "latestOffset": "find",
    "queryPlanning": "plan",
    "walCommit": "begin",
    "addBatch": "run",
    "commitOffsets": "commit",
}


@dataclass(frozen=True, slots=True)
class InputProgress:
    """How far the application has read a topic, by partition."""

    topic: str
    position: tuple[int, ...]
    """The offset after the last record of the batch."""
    end: tuple[int, ...]
    """The end of the topic when the batch started."""
    time: int | None = None
    """The latest record time since the start, in milliseconds since 1970."""

    @property
    def lag(self) -> int:
        """How many records the batch left unread."""
        return sum(max(0, end - at) for at, end in zip(self.position, self.end, strict=False))


@dataclass(frozen=True, slots=True)
class StageProgress:
    """The size of the state of a chain of stages after an exchange."""

    number: int
    rows: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Progress:
    """A batch, and how far the application is after it."""

    batch: int
    """The number of the batch; a restart continues the numbers."""
    started: datetime
    duration: timedelta
    records: int
    """How many records the batch had."""
    total_records: int
    """How many records were processed since the start."""
    records_per_second: float
    """A moving average over the last seconds."""
    lag: int
    """How many records were still waiting after the batch."""
    state_bytes: int
    """The size of the state, in memory and in files."""
    skipped: int
    """How many records failed and were skipped since the start."""
    nodes: Counters = field(repr=False)
    """How many records each node received, forwarded, dropped and failed on, and how many were late."""
    phases: Mapping[str, timedelta] = field(repr=False)
    """How long each phase of the batch took: find the records, plan, begin, run, commit."""
    inputs: tuple[InputProgress, ...] = field(default=(), repr=False)
    """How far the application has read each topic."""
    stages: tuple[StageProgress, ...] = field(default=(), repr=False)
    """The stages that have state."""


class ProgressReader:
    """Reads the reports of a query one after the other."""

    def __init__(self) -> None:
        self._seen: datetime | None = None
        self._ended: datetime | None = None
        self._total = 0
        self._rate = 0.0

    def read(
        self, reports: Sequence[Any], counters: Counters, times: Mapping[str, int] | None = None
    ) -> Iterator[Progress]:
        """Yield the new ones among Spark's recent reports, which are sorted oldest first.

        `times` are the latest record times by topic.
        """
        fresh: list[dict[str, Any]] = []
        for report in reversed(reports):
            content = json.loads(report.json())
            if self._seen is not None and _time(content["timestamp"]) <= self._seen:
                break
            fresh.append(content)
        for content in reversed(fresh):
            self._seen = _time(content["timestamp"])
            # While no records arrive, Spark reports a batch that does not exist.
            if "addBatch" in content["durationMs"]:
                yield self._progress(content, counters, times or {})

    def seen_at(self, progress: Progress, now: datetime) -> Progress:
        """Return the progress as of `now`, when no batch has followed: its rate fades."""
        quiet = (now - progress.started - progress.duration).total_seconds()
        # The next batch may be running.
        fading = max(0.0, quiet - max(1.0, progress.duration.total_seconds()))
        return replace(progress, records_per_second=progress.records_per_second * _weight(fading))

    def _progress(self, content: Mapping[str, Any], counters: Counters, times: Mapping[str, int]) -> Progress:
        started, duration = _time(content["timestamp"]), timedelta(milliseconds=content["batchDuration"])
        sources, operators = content["sources"], content["stateOperators"]
        # The rows that carry the wall clock are not records.
        records = int(content["numInputRows"]) - _metric(sources, "ticks")
        self._total += records
        self._follow(records, started, started + duration)
        phases = content["durationMs"]
        return Progress(
            batch=int(content["batchId"]),
            started=started,
            duration=duration,
            records=records,
            total_records=self._total,
            records_per_second=self._rate,
            lag=_metric(sources, "lag"),
            state_bytes=sum(_bytes(operator) for operator in operators),
            skipped=sum(counts["failed"] for counts in counters.values()),
            nodes=counters,
            phases={
                shown: timedelta(milliseconds=phases[name])
                for name, shown in _SHOWN_PHASES.items()
                if name in phases
            },
            inputs=tuple(_inputs(sources, times)),
            # The last chain is the first operator.
            stages=tuple(_stage(n, operator) for n, operator in enumerate(reversed(operators), start=1)),
        )

    def _follow(self, records: int, started: datetime, ended: datetime) -> None:
        since = self._ended or started
        seconds = max((ended - since).total_seconds(), 0.001)
        now = records / seconds
        self._rate = now if self._ended is None else now + (self._rate - now) * _weight(seconds)
        self._ended = ended


def _weight(seconds: float) -> float:
    return float(0.5 ** (seconds / _HALF_LIFE_SECONDS))


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _metric(sources: Sequence[Mapping[str, Any]], name: str) -> int:
    return sum(int(source["metrics"].get(name, 0)) for source in sources if "metrics" in source)


def _inputs(sources: Sequence[Mapping[str, Any]], times: Mapping[str, int]) -> Iterator[InputProgress]:
    for source in sources:
        read, there = source.get("endOffset") or {}, source.get("latestOffset") or {}
        for topic, found in read.items():
            if "offsets" in found:
                end = there.get(topic, found)["offsets"]
                yield InputProgress(topic, tuple(found["offsets"]), tuple(end), times.get(topic))


def _stage(number: int, operator: Mapping[str, Any]) -> StageProgress:
    return StageProgress(number, int(operator.get("numRowsTotal", 0)), _bytes(operator))


def _bytes(operator: Mapping[str, Any]) -> int:
    return int(operator["memoryUsedBytes"]) + int(operator["customMetrics"].get("rocksdbSstFileSize", 0))
