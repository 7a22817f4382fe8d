"""The command-line options: what to measure, and how much."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.kafka.kinds import KINDS, RIVALS
from benchmarks.operators.cases import SHAPES, STORES
from benchmarks.python.contestants import RIVALS as PYTHON_RIVALS
from benchmarks.python.workloads import PROGRAMS as PYTHON_PROGRAMS

PARTS = ("kernel", "topics", "operators", "queries", "kafka", "python")


def arguments() -> argparse.Namespace:
    """Return the options with their defaults filled in; invalid ones end the program."""
    parser = _parser()
    found = parser.parse_args()
    small = found.quick
    found.parts = (found.only,) if found.only else PARTS
    # A run of a join takes longer than one of a count, so this part has smaller defaults.
    found.operator_keys = found.keys or ([1000] if small else [10_000, 100_000, 1_000_000])
    found.operator_batches = found.batches or (2 if small else 3)
    found.query_keys = max(found.keys or ([10_000] if small else [1_000_000]))
    found.kafka_keys = max(found.keys or ([1000] if small else [100_000]))
    found.python_keys = found.keys or ([1000] if small else [100, 100_000, 1_000_000])
    found.python_records = found.records or (100_000 if small else 6_000_000)
    found.records = found.records or (20_000 if small else 400_000)
    found.keys = found.keys or ([1000] if small else [100, 10_000, 100_000, 1_000_000])
    found.rows = found.rows or (50_000 if small else 400_000)
    found.rounds = found.rounds or (1 if small else 2)
    found.batches = found.batches or (3 if small else 6)
    if (
        min(*found.keys, found.rows, found.records, found.rounds, found.batches, sys.maxsize) < 1
        or found.rows % 2
    ):
        parser.error("numbers must be positive, and the records per batch even: they go to two partitions")
    if "operators" in found.parts and any(keys % 2 for keys in found.operator_keys):
        parser.error("the numbers of keys must be even for joins: the keys are in two partitions")
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Compare Brookmere with PySpark and Kafka Streams, on an otherwise idle machine.",
    )
    parser.add_argument("--only", choices=PARTS, help="one of the parts (all)")
    parser.add_argument(
        "--keys",
        type=_numbers,
        help="numbers of keys, separated by commas (100,10000,100000,1000000; operators: without 100; "
        "queries: the largest, 1000000; kafka: the largest, 100000; python: 100,100000,1000000)",
    )
    parser.add_argument("--rows", type=int, help="records per batch (400000)")
    parser.add_argument("--rounds", type=int, help="how often each case is run (2)")
    parser.add_argument("--batches", type=int, help="measured batches per run (6; operators: 3)")
    parser.add_argument(
        "--cases",
        type=_names(SHAPES),
        default=SHAPES,
        help=f"for operators, separated by commas ({','.join(SHAPES)})",
    )
    parser.add_argument(
        "--stores",
        type=_names(STORES),
        default=STORES[:1],
        help="for operators: memory, rocksdb, or both separated by a comma (memory)",
    )
    parser.add_argument(
        "--records",
        type=int,
        help="for kafka: records per load, a tenth of it for sentences; for queries: half a load (400000); "
        "for python: the backlog (6000000)",
    )
    parser.add_argument(
        "--programs",
        type=_names(KINDS),
        default=KINDS,
        help=f"for kafka, separated by commas ({','.join(KINDS)})",
    )
    parser.add_argument(
        "--by",
        type=_names(RIVALS),
        default=RIVALS,
        help=f"for kafka: who runs the programs ({','.join(RIVALS)})",
    )
    parser.add_argument(
        "--python-programs",
        type=_names(PYTHON_PROGRAMS),
        default=PYTHON_PROGRAMS,
        help=f"for python, separated by commas ({','.join(PYTHON_PROGRAMS)})",
    )
    parser.add_argument(
        "--python-by",
        type=_names(PYTHON_RIVALS),
        default=PYTHON_RIVALS,
        help=f"for python: who runs the programs ({','.join(PYTHON_RIVALS)})",
    )
    parser.add_argument(
        "--quick", action="store_true", help="a small subset, to try the command; do not quote its numbers"
    )
    parser.add_argument("--no-latency", action="store_true", help="skip the batches of one record")
    parser.add_argument("--output", type=Path, help="the JSON file (benchmarks/results/TIME.json)")
    parser.add_argument("--markdown", type=Path, help="a file for the tables as Markdown (none)")
    return parser


def _numbers(text: str) -> list[int]:
    return [int(part.replace("_", "")) for part in text.split(",")]


def _names(known: tuple[str, ...]) -> Callable[[str], tuple[str, ...]]:
    def names(text: str) -> tuple[str, ...]:
        found = tuple(text.split(","))
        for name in found:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name!r} is unknown; choose from {', '.join(known)}")
        return found

    return names
