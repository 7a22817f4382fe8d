"""Where the time goes, computed from cases that do more and more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.kernel.cases import PASS, SOURCE, STAGE_0, Case
from benchmarks.kernel.throughput import Result


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Microseconds per row of the cheapest batch. The first four are CPU time and add up to `total`."""

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
    """The kernel's own timer for processing, minus forwarding rows."""
    state_clock: float
    """The kernel's own timer for writing changes to the state store."""
    commit_clock: float
    """Spark's report on the commits of the state store."""


def breakdown(result: Result, baselines: Mapping[Case, Result]) -> Breakdown:
    """Return the breakdown of a case."""
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
