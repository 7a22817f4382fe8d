"""Turns the command line into what to measure, and how much of it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

PARTS = ("kernel", "topics")


def arguments() -> argparse.Namespace:
    """Return the options with their defaults filled in; wrong ones end the program."""
    parser = _parser()
    found = parser.parse_args()
    small = found.quick
    found.parts = (found.only,) if found.only else PARTS
    found.keys = found.keys or ([1000] if small else [100, 10_000, 100_000, 1_000_000])
    found.rows = found.rows or (50_000 if small else 400_000)
    found.rounds = found.rounds or (1 if small else 2)
    found.batches = found.batches or (3 if small else 6)
    if min(*found.keys, found.rows, found.rounds, found.batches, sys.maxsize) < 1 or found.rows % 2:
        parser.error("numbers must be positive, and the records per batch even: they go to two partitions")
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure Brookmere beside PySpark's own streaming, on a machine that is otherwise idle.",
    )
    parser.add_argument("--only", choices=PARTS, help="one of the two parts (both)")
    parser.add_argument(
        "--keys", type=_numbers, help="numbers of keys, with commas between (100,10000,100000,1000000)"
    )
    parser.add_argument("--rows", type=int, help="records per batch (400000)")
    parser.add_argument("--rounds", type=int, help="how often each case is run (2)")
    parser.add_argument("--batches", type=int, help="measured batches per run (6)")
    parser.add_argument(
        "--quick", action="store_true", help="a small subset, to try the command: no numbers to quote"
    )
    parser.add_argument("--no-latency", action="store_true", help="leave the batches of one record out")
    parser.add_argument("--output", type=Path, help="the JSON file (benchmarks/results/TIME.json)")
    parser.add_argument("--markdown", type=Path, help="a file for the tables as Markdown (none)")
    return parser


def _numbers(text: str) -> list[int]:
    return [int(part.replace("_", "")) for part in text.split(",")]
