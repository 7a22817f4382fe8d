"""The command line of the benchmarks: tables on stdout, every batch in a JSON file."""

from __future__ import annotations

import json
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from benchmarks import kernel, machine, operators, topics
from benchmarks.failures import QueryFailedError, WrongResultError
from benchmarks.kafka.run import run as run_on_kafka
from benchmarks.options import arguments
from benchmarks.python.run import run as run_python
from benchmarks.queries.run import run as run_queries
from benchmarks.tables import Table, pairs
from brookmere.errors import BrookmereError
from brookmere.run import spark_session

TITLES = {
    "kernel": "The kernel: from rows in memory to no sink",
    "topics": "From topic to topic",
    "operators": "Windows and joins: from rows in memory to no sink",
    "kafka": "From Kafka to Kafka",
    "queries": "Queries of stores",
    "python": "Python code inside the stream",
}


class Report(Protocol):
    """The results of a part of the benchmark."""

    def tables(self) -> list[Table]:
        """Return the tables for people."""

    def document(self) -> dict[str, Any]:
        """Return everything as plain values."""


def main() -> int:
    """Run the command; the exit code is 1 if a result was wrong or a query failed."""
    options = arguments()
    session = spark_session(master="local[2]", partitions=2, memory="6g")
    session.sparkContext.setLogLevel("ERROR")
    facts = machine.facts(session)
    runs: dict[str, Callable[..., Report]] = {
        "kernel": kernel.run,
        "topics": topics.run,
        "operators": operators.run,
    }
    try:
        try:
            reports = {part: runs[part](session, options, _tell) for part in options.parts if part in runs}
        finally:
            session.stop()
        # These parts run in their own processes, and this one has nothing else to do meanwhile.
        if "queries" in options.parts:
            reports["queries"] = run_queries(options, _tell)
        if "kafka" in options.parts:
            reports["kafka"] = run_on_kafka(options, _tell)
        if "python" in options.parts:
            reports["python"] = run_python(options, _tell)
    except (WrongResultError, QueryFailedError, BrookmereError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    _write(options, facts | {"load after": machine.load()}, reports)
    return 0


def _write(options: Namespace, facts: Mapping[str, str], reports: Mapping[str, Report]) -> None:
    name = f"{facts['time'].replace(':', '').removesuffix('+0000')}.json"
    output = options.output or Path(__file__).parent / "results" / name
    document = {"machine": dict(facts)} | {part: report.document() for part, report in reports.items()}
    _save(output, json.dumps(document, indent=1))
    shown = {TITLES[part]: report.tables() for part, report in reports.items()}
    on_machine = pairs("Machine", facts)
    if options.markdown is not None:
        parts = [on_machine.markdown()]
        for title, tables in shown.items():
            parts += [f"### {title}", *(table.markdown() for table in tables)]
        _save(options.markdown, "\n\n".join(parts))
    parts = [on_machine.text()]
    for title, tables in shown.items():
        parts += [f"{title}\n{'=' * len(title)}", *(table.text() for table in tables)]
    sys.stdout.write("\n\n".join([*parts, f"Every batch: {output}"]) + "\n")


def _save(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


def _tell(text: str) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')}  {text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
