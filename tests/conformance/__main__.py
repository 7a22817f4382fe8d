"""Turns a directory of recorded scenarios into a list of those that the engine does otherwise."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.conformance.asking import can_be_asked, stores_difference
from tests.conformance.runner import difference
from tests.conformance.scenario import Scenario, check_cut, load


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.conformance",
        description="Run recorded scenarios and print the first difference of each one that fails.",
    )
    parser.add_argument("directory", type=Path, help="where the scenario files are, at any depth")
    parser.add_argument("--engine", choices=("local", "spark"), default="local")
    parser.add_argument("--cut", type=check_cut, default="single", help="whole, single or random:SEED")
    parser.add_argument("--match", default="*", metavar="GLOB", help="run the names that fit only")
    parser.add_argument("--ask", action="store_true", help="compare the stores only, as replicas answer")
    parser.add_argument("--python", action="store_true", help="with words in Python instead of Columns")
    parser.add_argument("--restarts", action="store_true", help="begin again after every micro-batch")
    arguments = parser.parse_args()
    if not arguments.directory.is_dir():
        parser.error(f"{arguments.directory} is no directory")
    return arguments


def _attempt(scenario: Scenario, given: argparse.Namespace) -> str | None:
    try:
        if given.ask:
            return stores_difference(scenario, given.cut)
        return difference(
            scenario, engine=given.engine, cut=given.cut, python=given.python, restarts=given.restarts
        )
    except Exception as error:  # noqa: BLE001 - whatever goes wrong belongs to this scenario; the others still run
        return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def main() -> int:
    """Run the command; the exit code is 1 if any scenario failed."""
    arguments = _arguments()
    passed = failed = 0
    for scenario in load(arguments.directory, arguments.match):
        if arguments.ask and not can_be_asked(scenario):
            continue
        found = _attempt(scenario, arguments)
        if found is None:
            passed += 1
        else:
            failed += 1
            sys.stdout.write(f"{scenario.name}: {found}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{passed} passed, {failed} failed\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
