"""Runs programs in a process that may be killed at any time."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

import brookmere as bm
from tests.chaos.programs import PROGRAMS


def main(prefix: str, programs: dict[str, dict[str, Any]], *, stores: bool) -> None:
    """Run all programs at once, each with its settings, and tell what they do.

    The line `finish` lets them end with their input. With `stores` they follow their own stores, and in
    the end tell what these hold.
    """
    running = []
    for name, settings in programs.items():
        application = bm.Application(PROGRAMS[name](prefix), settings)
        application.on_progress(lambda progress: _tell("batch"))
        application.on_state_change(_failures(application))
        running.append(application)
    for application in running:
        try:
            application.start()
        except bm.BrookmereError as error:
            _tell(f"failed {type(error).__name__}: {error}")
            return
        if stores:
            application.stores.start()
        _tell("started")
    _tell("running")
    _finish.wait()
    for application in running:
        application.process_all_available()
    if stores:
        _tell(f"stores {json.dumps(_rows(running))}")
    for application in running:
        application.stop()
    _tell("done")


def _rows(running: list[bm.Application]) -> dict[str, list[str]]:
    return {
        info.topic: [repr(row) for row in application.store(info.name).all()]
        for application in running
        for info in application.stores.infos.values()
    }


def _failures(application: bm.Application) -> Callable[[str, str], None]:
    def listen(new: str, old: str) -> None:
        if new == "failed":
            _tell(f"failed {type(application.error).__name__}: {application.error}")

    return listen


_finish = threading.Event()


def _follow_parent() -> None:
    """Do as the test says; end, with the JVM, when it is gone, however it went."""
    for line in sys.stdin:
        if line.strip() == "finish":
            _finish.set()
    os.killpg(os.getpid(), signal.SIGKILL)


def _tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    threading.Thread(target=_follow_parent, daemon=True).start()
    main(**json.loads(sys.argv[1]))
