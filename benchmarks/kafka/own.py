"""Runs one of the programs with Brookmere until its standard input ends: `own PROGRAM SETTINGS`, as JSON."""

from __future__ import annotations

import json
import sys
import time

import brookmere as bm
from benchmarks.child import run_to_the_end, tell
from benchmarks.kafka.programs import program


def main() -> int:
    """Run it, and report progress on standard output."""
    kind, given = sys.argv[1], json.loads(sys.argv[2])
    app = program(
        kind,  # type: ignore[arg-type]
        application=given["application"],
        source=given["in"],
        table=given["table"],
        out=given["out"],
    )
    application = bm.Application(app, given["settings"])
    application.on_progress(_tell_progress)
    return run_to_the_end(application)


def _tell_progress(done: bm.Progress) -> None:
    phases = {name: phase.total_seconds() for name, phase in done.phases.items()}
    tell(f"batch {json.dumps({'records': done.records, **phases})}")
    tell(f"processed {done.total_records} {time.time_ns() // 1_000_000}")


if __name__ == "__main__":
    sys.exit(main())
