"""Measures windows and joins."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable

from pyspark.sql import SparkSession

from benchmarks.measure import Bench
from benchmarks.operators.cases import SHARES, TURNS, Case, contestants
from benchmarks.operators.check import Checker, found
from benchmarks.operators.data import GAP_MS, GRACE_MS, HOP_MS, SIZE_MS, SPAN_MS, Feed
from benchmarks.operators.goals import goals
from benchmarks.operators.queries import start
from benchmarks.operators.report import Report
from benchmarks.rounds import Result, measure


def run(session: SparkSession, options: Namespace, tell: Callable[[str], None]) -> Report:
    """Measure windows and joins.

    Raises:
        WrongResultError: a case produced wrong results.
        QueryFailedError: a query failed.
    """
    results = _throughput(session, options, tell)
    rows = {shape: _rows(options.rows, share) for shape, share in SHARES.items()}
    fewer = "; ".join(f"{shape} {count:,}" for shape, count in rows.items() if shape in options.cases)
    return Report(
        settings={
            "rows per batch": f"{options.rows:,}{'; ' if fewer else ''}{fewer}",
            "rounds": options.rounds,
            "measured batches per round": options.operator_batches,
            "event time per batch": f"{SPAN_MS // 1000} s",
            "windows": f"tumbling {SIZE_MS // 1000} s, hopping by {HOP_MS // 1000} s, "
            f"session gap {GAP_MS // 1000} s, grace and watermark delay {GRACE_MS // 1000} s",
            "sink": "foreachBatch that writes to noop, for both",
        },
        results=results,
        goals=goals(results),
    )


def _throughput(
    session: SparkSession, options: Namespace, tell: Callable[[str], None]
) -> dict[tuple[Case, int], Result[Case, Feed]]:
    bench = Bench(session, 2 if options.quick else 3, options.operator_batches, start=start, found=found)
    checker = Checker(session)
    results: dict[tuple[Case, int], Result[Case, Feed]] = {}
    for turn in TURNS:
        shapes = tuple(shape for shape in turn if shape in options.cases)
        cases = contestants(shapes, options.stores)
        for keys in options.operator_keys if cases else ():
            rows = _rows(options.rows, SHARES.get(turn[0], 1))
            feeds = {case: Feed(case.shape, keys, rows) for case in cases}
            measured = measure(bench, feeds, options.rounds, tell, checker.check)
            results |= {(case, keys): result for case, result in measured.items()}
    return results


def _rows(rows: int, share: int) -> int:
    return max(4, rows // share // 4 * 4)
