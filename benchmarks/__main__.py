"""Turns command-line options into a benchmark: tables on stdout, every batch in a JSON file."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks import latency, machine
from benchmarks.breakdown import Breakdown, breakdown
from benchmarks.cases import NATIVE, NATIVE_DIRECT, PASS, SOURCE, STAGE_0, Case
from benchmarks.check import WrongResultError
from benchmarks.data import Feed
from benchmarks.goals import goals
from benchmarks.measure import Bench, QueryFailedError
from benchmarks.report import Report
from benchmarks.throughput import Result, measure
from brookmere.run import spark_session

BASELINES = (SOURCE, STAGE_0, PASS)
COUNTS = tuple(Case("count", store, emit) for store in ("memory", "rocksdb") for emit in ("every", "last"))
CHAINS = tuple(Case("chain", store, emit) for store in ("memory", "rocksdb") for emit in ("every", "last"))
QUICK_COUNTS = (Case("count", "memory", "every"), Case("count", "rocksdb", "every"))
CHAIN_KEYS = 100_000


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure Brookmere beside Spark's own aggregation, on a machine that is otherwise idle.",
    )
    parser.add_argument(
        "--keys", type=_numbers, help="numbers of keys, with commas between (100,10000,100000,1000000)"
    )
    parser.add_argument("--rows", type=int, help="records per batch (400000)")
    parser.add_argument("--rounds", type=int, help="how often each case is run (2)")
    parser.add_argument("--batches", type=int, help="measured batches per run (6)")
    parser.add_argument(
        "--quick", action="store_true", help="a small subset, to try the command: no numbers to quote"
    )
    parser.add_argument("--no-latency", action="store_true", help="leave the batches of one row out")
    parser.add_argument("--output", type=Path, help="the JSON file (benchmarks/results/TIME.json)")
    found = parser.parse_args()
    small = found.quick
    found.keys = found.keys or ([1000] if small else [100, 10_000, 100_000, 1_000_000])
    found.rows = found.rows or (50_000 if small else 400_000)
    found.rounds = found.rounds or (1 if small else 2)
    found.batches = found.batches or (3 if small else 6)
    if min(*found.keys, found.rows, found.rounds, found.batches, sys.maxsize) < 1 or found.rows % 2:
        parser.error(
            "numbers must be positive, and the records per batch even: they go to two partitions in turn"
        )
    return found


def _numbers(text: str) -> list[int]:
    return [int(part.replace("_", "")) for part in text.split(",")]


def _tell(text: str) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')}  {text}\n")
    sys.stderr.flush()


def _throughput(session: SparkSession, options: argparse.Namespace) -> list[dict[Case, Result]]:
    bench = Bench(session, warm_up=2 if options.quick else 3, measured=options.batches)
    known = [keys for keys in options.keys if keys <= CHAIN_KEYS]
    chain_keys = max(known) if known else min(options.keys)
    groups = []
    for keys in options.keys:
        cases = [NATIVE, *QUICK_COUNTS] if options.quick else [NATIVE, NATIVE_DIRECT, *COUNTS]
        # What keeps no state costs the same at any number of keys, and is measured once.
        if keys == chain_keys:
            cases += [*BASELINES, *(CHAINS[:1] if options.quick else CHAINS)]
        groups.append(measure(bench, cases, Feed(keys, options.rows), options.rounds, _tell))
    return groups


def _breakdowns(groups: list[dict[Case, Result]]) -> list[Breakdown]:
    baselines: Mapping[Case, Result] = next(group for group in groups if PASS in group)
    results = [result for group in groups for result in group.values()]
    return [breakdown(r, baselines) for r in results if r.case.store is not None and r.case not in BASELINES]


def _latencies(session: SparkSession, options: argparse.Namespace) -> list[latency.Latency]:
    if options.no_latency:
        return []
    bench = Bench(session, warm_up=5 if options.quick else 15, measured=10 if options.quick else 40)
    cases = [case for case in latency.CASES if not (options.quick and case.direct)]
    results = measure(bench, cases, latency.FEED, options.rounds, _tell)
    return [latency.latency(result) for result in results.values()]


def main() -> int:
    """Run the command; the exit code is 1 if a result was wrong or a query failed."""
    options = _arguments()
    session = spark_session(master="local[2]", partitions=2, memory="6g")
    facts = machine.facts(session)
    try:
        groups = _throughput(session, options)
        latencies = _latencies(session, options)
    except (WrongResultError, QueryFailedError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    finally:
        session.stop()
    report = Report(
        machine=facts | {"load after": machine.load()},
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
    name = f"{facts['time'].replace(':', '').removesuffix('+0000')}.json"
    output = options.output or Path(__file__).parent / "results" / name
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(report.document(), indent=1) + "\n")
    sys.stdout.write(f"{report.text()}\nEvery batch: {output}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
