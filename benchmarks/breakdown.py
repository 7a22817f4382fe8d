"""Turns the results of cases that do more and more into where the time of the last of them goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.cases import PASS, SOURCE, STAGE_0, Case
from benchmarks.throughput import Result


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Microseconds per row."""

    case: Case
    keys: int
    source: float
    """Generating the records and writing them to the noop sink."""
    stage_0: float
    """Decoding and packing them, and the output columns."""
    exchange: float
    """Shuffle, merge into the order of arrival, and the shell of transformWithState."""
    processing: float
    """The kernel at work behind the exchange, as its own clock says, less what passing rows on takes."""
    state: float
    """Writing changes to the state store, as the kernel's own clock says."""
    rest: float
    """Commit, background work of the state store, garbage collection; with a chain, its second exchange."""
    total: float
    commit: float
    """Elapsed time of the commits, summed over tasks. Not a part of the total: it also waits for the disk."""


def breakdown(result: Result, baselines: Mapping[Case, Result]) -> Breakdown:
    """Return where the time of a case goes."""
    source, stage_0, passed = (baselines[case].cpu_us for case in (SOURCE, STAGE_0, PASS))
    batch = result.cheapest
    passing = baselines[PASS].cheapest.stages[0][0]
    processing = result.per_row(sum(times[0] for times in batch.stages)) - baselines[PASS].per_row(passing)
    state = result.per_row(sum(times[1] for times in batch.stages))
    return Breakdown(
        case=result.case,
        keys=result.feed.keys,
        source=source,
        stage_0=stage_0 - source,
        exchange=passed - stage_0,
        processing=processing,
        state=state,
        rest=result.cpu_us - passed - processing - state,
        total=result.cpu_us,
        commit=result.per_row(batch.commit_ms * 1_000_000),
    )
