"""Measures the path from topic to topic."""

from __future__ import annotations

import shutil
import tempfile
from argparse import Namespace
from collections.abc import Callable
from math import ceil
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.topics.cases import rivals, rungs
from benchmarks.topics.filling import fill, open_once
from benchmarks.topics.goals import MANY_KEYS, goals
from benchmarks.topics.latency import Latency, LatencyBench
from benchmarks.topics.measure import Bench
from benchmarks.topics.parts import parts
from benchmarks.topics.report import Report
from benchmarks.topics.throughput import measure
from benchmarks.topics.workloads import Workload

Tell = Callable[[str], None]


def run(session: SparkSession, options: Namespace, tell: Tell) -> Report:
    """Fill topics in a temporary directory, measure, and remove them.

    Raises:
        WrongResultError: a case produced wrong results.
        QueryFailedError: a query failed.
    """
    directory = Path(tempfile.mkdtemp(prefix="brookmere-bench-"))
    try:
        return _report(session, directory, options, tell)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _report(session: SparkSession, directory: Path, options: Namespace, tell: Tell) -> Report:
    counted = [Workload("keys", options.rows, keys) for keys in _key_numbers(options.keys)]
    # The measured batches use keys that the state already knows.
    warm_up = max(2 if options.quick else 3, ceil(counted[-1].keys / options.rows))
    bench = Bench(session, directory, warm_up, options.batches)
    # A sentence is many words and an order many fields: fewer of them make a batch of similar work.
    words = Workload("words", max(options.rows // 4, 1))
    orders = Workload("orders", max(options.rows // 2, 1))
    projected = Workload("projected", max(options.rows // 2, 1))
    for workload in (words, orders, projected, *counted):
        tell(f"topics  filling {workload.topic}")
        fill(bench.topics, workload, bench.batches)
        open_once(session, bench.topics, workload)
    # Stateless cases cost the same at any number of keys, and are measured once.
    steps = {words: rungs(words), orders: [*rungs(orders), *rungs(projected)], counted[0]: rungs(counted[0])}
    found = []
    for workload in (words, orders, *counted):
        if not options.quick:
            _warm_up(bench, workload, tell)
        cases = [*rivals(workload), *steps.get(workload, ())]
        found.append(measure(bench, cases, options.rounds, tell))
    groups = [{c: result for c, result in group.items() if c.step == "whole"} for group in found]
    costs = {c: result for group in found for c, result in group.items() if c.step != "whole"}
    latencies = [] if options.no_latency else _latencies(session, directory, options, tell)
    own = [result for group in groups for case, result in group.items() if case.engine == "Brookmere"]
    return Report(
        settings={
            "records per batch": f"{options.rows:,}; sentences {words.rows:,}; orders {orders.rows:,}",
            "rounds": options.rounds,
            "measured batches per round": options.batches,
            "partitions": "2 of every topic, 2 of the state",
        },
        results=groups,
        rungs=costs,
        parts=[parts(result, costs) for result in own],
        latencies=latencies,
        goals=[] if options.quick else goals(groups, latencies),
    )


def _warm_up(bench: Bench, workload: Workload, tell: Tell) -> None:
    """Let the JVM compile the code of the cases, so that the first round is like the others."""
    for case in rivals(workload):
        if case.engine != "Python loop":
            tell(f"topics  warming up  {case.name}")
            bench.run(case)


def _key_numbers(keys: list[int]) -> list[int]:
    """Return the smallest number of keys, and the largest up to 100,000."""
    known = [number for number in keys if number <= MANY_KEYS] or [min(keys)]
    return sorted({min(known), max(known)})


def _latencies(session: SparkSession, directory: Path, options: Namespace, tell: Tell) -> list[Latency]:
    small = options.quick
    bench = LatencyBench(session, directory, warm_up=5 if small else 15, measured=10 if small else 40)
    return bench.measure(options.rounds, tell)
