"""Turns the results of cases that do more and more into where the time of the last of them goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.kernel.cases import PASS, SOURCE, STAGE_0, Case
from benchmarks.kernel.throughput import Result


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Microseconds per row of the cheapest batch. The first four are processor time and add up to `total`."""

    case: Case
    keys: int
    source: float
    """Generating the records and writing them to the noop sink."""
    stage_0: float
    """Decoding and packing them, and the output columns."""
    exchange: float
    """Shuffle, merge into the order of arrival, and the shell of transformWithState."""
    kernel_and_state: float
    """The rest: processing, state, garbage collection; with a chain, also its second exchange."""
    total: float
    processing_clock: float
    """What the kernel's own clock says of processing, less what it says of passing rows on."""
    state_clock: float
    """What the kernel's own clock says of writing changes to the state store."""
    commit_clock: float
    """What Spark says of the commits of the state store."""


def breakdown(result: Result, baselines: Mapping[Case, Result]) -> Breakdown:
    """Return where the time of a case goes."""
    source, stage_0, passed = (baselines[case].cpu_us for case in (SOURCE, STAGE_0, PASS))
    batch = result.cheapest
    passing = baselines[PASS].per_row(baselines[PASS].cheapest.stages[0][0])
    return Breakdown(
        case=result.case,
        keys=result.feed.keys,
        source=source,
        stage_0=stage_0 - source,
        exchange=passed - stage_0,
        kernel_and_state=result.cpu_us - passed,
        total=result.cpu_us,
        processing_clock=result.per_row(sum(times[0] for times in batch.stages)) - passing,
        state_clock=result.per_row(sum(times[1] for times in batch.stages)),
        commit_clock=result.per_row(batch.commit_ms * 1_000_000),
    )
