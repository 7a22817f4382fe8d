"""Watches over a running application: shows its progress, and stops it by a signal."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from brookmere.cli import console
from brookmere.cli.progress_view import View
from brookmere.errors import BrookmereError

if TYPE_CHECKING:
    from brookmere.run.application import Application
    from brookmere.run.progress import Progress

_LOOK_SECONDS = 0.1
_STOPPED_HARD = 130


def supervise(application: Application, view: View, *, until_idle: bool = False) -> None:
    """Run an application to its end, which a signal, idleness or a failure brings.

    Raises:
        BrookmereError: the application does not start, or failed.
    """
    batches: SimpleQueue[Progress] = SimpleQueue()
    application.on_progress(batches.put)
    with failure_told_once(), view.screen():
        view.show("starting", None, [])
        application.start()
        try:
            # Spark sets its own handler when it starts, so this one comes after it.
            with stop_signals() as asked:
                idle = _idleness(application) if until_idle else threading.Event()
                while not application.wait(_LOOK_SECONDS):
                    view.show(application.state, application.progress(), _taken(batches))
                    if (asked.is_set() or idle.is_set()) and application.state == "running":
                        # Not here: the view has to go on while the last batch ends.
                        threading.Thread(target=application.stop, daemon=True).start()
        finally:
            application.stop()
        view.show(application.state, application.progress(), _taken(batches))
    if application.error is not None:
        raise application.error


@contextmanager
def failure_told_once() -> Iterator[None]:
    """Keep a failure out of the log: the command tells it when it ends."""
    logger = logging.getLogger("brookmere.run.application")
    logger.addFilter(_is_no_failure)
    try:
        yield
    finally:
        logger.removeFilter(_is_no_failure)


@contextmanager
def stop_signals() -> Iterator[threading.Event]:
    """Give an event that the first Ctrl-C or SIGTERM sets; a second Ctrl-C ends the process."""
    asked = threading.Event()

    def handle(number: int, frame: object) -> None:  # noqa: ARG001
        if asked.is_set() and number == signal.SIGINT:
            console.err.show_cursor()
            os._exit(_STOPPED_HARD)
        asked.set()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _idleness(application: Application) -> threading.Event:
    """Return an event that is set when everything there has been processed."""
    idle = threading.Event()

    def wait() -> None:
        try:
            application.process_all_available()
        except BrookmereError as failure:
            # The application keeps it, and its supervisor raises it.
            logging.getLogger(__name__).debug("not idle: %s", failure)
        idle.set()

    threading.Thread(target=wait, daemon=True).start()
    return idle


def _taken(batches: SimpleQueue[Progress]) -> list[Progress]:
    found: list[Progress] = []
    while True:
        try:
            found.append(batches.get_nowait())
        except Empty:
            return found


def _is_no_failure(record: logging.LogRecord) -> bool:
    return record.levelno < logging.ERROR
