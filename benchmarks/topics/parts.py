"""Where Brookmere's CPU time goes, computed from cases that do more and more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.topics.cases import Case, Step
from benchmarks.topics.throughput import Result
from benchmarks.topics.workloads import Kind, block


@dataclass(frozen=True, slots=True)
class Parts:
    """Microseconds of CPU time per input record. They add up to `total`."""

    case: Case
    read: float
    """Reading the files, and the fixed cost of a batch: planning, logs, tasks."""
    decode: float
    exchange: float | None
    kernel: float
    """The rest: operators, pre-aggregation, garbage collection, the state's background work."""
    state: float | None
    """Writing changes to the state store."""
    encode: float
    write: float
    total: float
    commit_clock: float
    """Elapsed time of the commits of the state stores, summed over tasks."""


def parts(result: Result, rungs: Mapping[Case, Result]) -> Parts:
    """Return the breakdown of one of Brookmere's cases."""
    kind = result.case.workload.kind
    costs = {(case.workload.kind, case.step): rung.cpu_us for case, rung in rungs.items()}
    read, decoded = costs[kind, "read"], costs[kind, "drop"]
    worked = costs.get((kind, "work"), decoded)
    batch = result.cheapest
    written = result.written_per_row
    if result.case.workload.counts:
        exchanged = batch.exchanged / batch.rows
        exchange = _per_exchanged(result, costs, worked) * exchanged
        state = batch.state_ns / 1000 / batch.rows
        write = (costs["keys", "copy"] - costs["keys", "bytes"]) * written
        encode = (costs["keys", "encode"] - costs["keys", "drop"]) * written - write
        kernel = result.cpu_us - decoded - exchange - state - encode - write
        known: tuple[float | None, float | None] = exchange, state
    else:
        write = (costs["projected", "copy"] - costs["projected", "bytes"]) * written
        kernel = worked - decoded
        encode = result.cpu_us - worked - write
        known = None, None
    return Parts(
        case=result.case,
        read=read,
        decode=decoded - read,
        exchange=known[0],
        kernel=kernel,
        state=known[1],
        encode=encode,
        write=write,
        total=result.cpu_us,
        commit_clock=batch.commit_ms * 1000 / batch.rows,
    )


def _per_exchanged(result: Result, costs: Mapping[tuple[Kind, Step], float], worked: float) -> float:
    """Return the cost of an exchange per row that passes it: with pre-aggregation not every row does."""
    workload = result.case.workload
    read = result.runs[0].read
    return (costs[workload.kind, "exchange"] - worked) * read / block(workload).expected(read).total()
