"""Runs the programs to the end of their input, in a process that may be killed at any time."""

from __future__ import annotations

import os
import signal
import sys
import threading
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


def _end_with_parent() -> None:
    """End, with the JVM, when the test that started this process is gone, however it went."""
    sys.stdin.read()
    os.killpg(os.getpid(), signal.SIGKILL)


def _tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    threading.Thread(target=_end_with_parent, daemon=True).start()
    main(Path(sys.argv[1]))
