"""Runs one of the programs with Brookmere until its standard input ends: `own PROGRAM SETTINGS`, as JSON."""

from __future__ import annotations

import json
import sys
import time

import brookmere as bm
from benchmarks.kafka.programs import program


def main() -> int:
    """Run it, and tell on standard output how far it is."""
    kind, given = sys.argv[1], json.loads(sys.argv[2])
    app = program(
        kind,  # type: ignore[arg-type]
        application=given["application"],
        source=given["in"],
        table=given["table"],
        out=given["out"],
    )
    application = bm.Application(app, given["settings"])
    application.on_progress(
        lambda done: _tell(f"processed {done.total_records} {time.time_ns() // 1_000_000}")
    )
    application.start()
    _tell("running")
    sys.stdin.read()
    application.stop()
    return 0 if application.error is None else 1


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
