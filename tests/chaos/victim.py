"""Runs the programs to the end of their input, in a process that may be killed at any time."""

from __future__ import annotations

import sys
from pathlib import Path

import brookmere as bm
from tests.chaos.programs import PROGRAMS


def main(home: Path) -> None:
    """Run all programs at once, and tell when they run and when they are done."""
    settings = {
        "topics.dir": home / "topics",
        "state.dir": home / "state",
        "max.batch.records": 300,
        "num.stream.threads": 2,
    }
    running = [bm.Application(program(), {**settings, **own}) for program, own in PROGRAMS.items()]
    for application in running:
        application.start()
    _tell("running")
    for application in running:
        application.process_all_available()
    for application in running:
        application.stop()
    _tell("done")


def _tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
