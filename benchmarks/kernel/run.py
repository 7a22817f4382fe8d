"""Measures the kernel."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping

from pyspark.sql import SparkSession

from benchmarks.kernel import latency
from benchmarks.kernel.breakdown import Breakdown, breakdown
from benchmarks.kernel.cases import NATIVE, NATIVE_DIRECT, PASS, SOURCE, STAGE_0, Case, start
from benchmarks.kernel.check import Checker, found
from benchmarks.kernel.data import Feed
from benchmarks.kernel.goals import goals
from benchmarks.kernel.report import Report
from benchmarks.kernel.throughput import Result
from benchmarks.measure import Bench
from benchmarks.rounds import measure

BASELINES = (SOURCE, STAGE_0, PASS)
COUNTS = tuple(Case("count", store, emit) for store in ("memory", "rocksdb") for emit in ("every", "last"))
CHAINS = tuple(Case("chain", store, emit) for store in ("memory", "rocksdb") for emit in ("every", "last"))
QUICK_COUNTS = (Case("count", "memory", "every"), Case("count", "rocksdb", "every"))
CHAIN_KEYS = 100_000

Tell = Callable[[str], None]


def run(session: SparkSession, options: Namespace, tell: Tell) -> Report:
    """Measure the kernel.

    Raises:
        WrongResultError: a case produced wrong results.
        QueryFailedError: a query failed.
    """
    groups = _throughput(session, options, tell)
    latencies = [] if options.no_latency else _latencies(session, options, tell)
    return Report(
        settings={
            "rows per batch": options.rows,
            "rounds": options.rounds,
            "measured batches per round": options.batches,
            "sink": "foreachBatch that writes to noop, for both; 'noop sink' is Spark's sink itself",
        },
        results=groups,
        breakdowns=_breakdowns(groups),
        latencies=latencies,
        goals=[] if options.quick else goals(groups, latencies),
    )


def _throughput(session: SparkSession, options: Namespace, tell: Tell) -> list[dict[Case, Result]]:
    warm_up = 2 if options.quick else 3
    bench = Bench(session, warm_up, options.batches, start=start, found=found)
    checker = Checker(session)
    known = [keys for keys in options.keys if keys <= CHAIN_KEYS]
    chain_keys = max(known) if known else min(options.keys)
    groups = []
    for keys in options.keys:
        cases = [NATIVE, *QUICK_COUNTS] if options.quick else [NATIVE, NATIVE_DIRECT, *COUNTS]
        # Stateless cases cost the same at any number of keys, and are measured once.
        if keys == chain_keys:
            cases += [*BASELINES, *(CHAINS[:1] if options.quick else CHAINS)]
        feeds = dict.fromkeys(cases, Feed(keys, options.rows))
        groups.append(measure(bench, feeds, options.rounds, tell, checker.check))
    return groups


def _breakdowns(groups: list[dict[Case, Result]]) -> list[Breakdown]:
    baselines: Mapping[Case, Result] = next(group for group in groups if PASS in group)
    results = [result for group in groups for result in group.values()]
    return [breakdown(r, baselines) for r in results if r.case.store is not None and r.case not in BASELINES]


def _latencies(session: SparkSession, options: Namespace, tell: Tell) -> list[latency.Latency]:
    warm_up, measured = (5, 10) if options.quick else (15, 40)
    bench = Bench(session, warm_up, measured, start=start, found=found)
    cases = [case for case in latency.CASES if not (options.quick and case.direct)]
    results = measure(bench, dict.fromkeys(cases, latency.FEED), options.rounds, tell, Checker(session).check)
    return [latency.latency(result) for result in results.values()]
