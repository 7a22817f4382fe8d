"""Runs one of the programs with Brookmere until its standard input ends: `own PROGRAM SETTINGS`, as JSON."""

from __future__ import annotations

import json
import sys
import threading
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
    application.on_progress(_tell_progress)
    application.start()
    _tell("running")
    threading.Thread(target=_stop_in_the_end, args=(application,), daemon=True).start()
    application.wait()
    if application.error is not None:
        sys.stderr.write(f"{application.error}\n")
    return 0 if application.error is None else 1


def _stop_in_the_end(application: bm.Application) -> None:
    sys.stdin.read()
    application.stop()


def _tell_progress(done: bm.Progress) -> None:
    phases = {name: phase.total_seconds() for name, phase in done.phases.items()}
    _tell(f"batch {json.dumps({'records': done.records, **phases})}")
    _tell(f"processed {done.total_records} {time.time_ns() // 1_000_000}")


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
