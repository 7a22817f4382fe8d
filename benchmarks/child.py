"""Runs an application in its own process, reporting its progress until its standard input ends."""

from __future__ import annotations

import sys
import threading

import brookmere as bm


def run_to_the_end(application: bm.Application) -> int:
    """Run until standard input ends, and return the exit code."""
    application.start()
    tell("running")
    threading.Thread(target=_stop_in_the_end, args=(application,), daemon=True).start()
    application.wait()
    if application.error is not None:
        sys.stderr.write(f"{application.error}\n")
    return 0 if application.error is None else 1


def tell(line: str) -> None:
    """Write a line that the other process reads at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _stop_in_the_end(application: bm.Application) -> None:
    sys.stdin.read()
    application.stop()
