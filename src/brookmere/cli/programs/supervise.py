"""Watches over a running application: shows its progress, and stops it by a signal."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent import futures
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from datetime import timedelta
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, NoReturn

from brookmere.cli.terminal import console
from brookmere.cli.terminal.progress import View
from brookmere.errors import BrookmereError

if TYPE_CHECKING:
    from brookmere.run.application import Application
    from brookmere.run.progress import Progress

_LOOK_SECONDS = 0.1
INTERRUPTED = 130
"""What shells report after Ctrl-C."""


def supervise(
    application: Application,
    view: View,
    *,
    until_idle: bool = False,
    serving: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> None:
    """Run an application to its end, which a signal, idleness or a failure brings.

    `serving` gives what begins when the application runs, and ends before it stops.

    Raises:
        BrookmereError: the application does not start, or failed.
    """
    batches: SimpleQueue[Progress] = SimpleQueue()
    application.on_progress(batches.put)
    with failure_told_once(), view.screen(), stop_signals() as asked:
        start(application, asked, lambda: view.show("starting", None, []))
        held = ExitStack()
        try:
            held.enter_context(serving())
            idle = _idleness(application) if until_idle else threading.Event()
            stopping = False
            while not application.wait(timedelta(seconds=_LOOK_SECONDS)):
                view.show(application.state, application.progress(), _taken(batches))
                if (asked.is_set() or idle.is_set()) and not stopping:
                    stopping = True
                    # Not here: the view has to go on while the last batch ends.
                    threading.Thread(target=_stop, args=(held, application), daemon=True).start()
        finally:
            _stop(held, application)
        view.show(application.state, application.progress(), _taken(batches))
    if application.error is not None:
        raise application.error


def _stop(held: ExitStack, application: Application) -> None:
    # Whoever asks hears that nobody answers any more, and not that the stores are closed.
    held.close()
    application.stop()


def start(application: Application, asked: threading.Event, wait: Callable[[], object]) -> None:
    """Start an application, and call `wait` meanwhile; a signal ends the process, as nothing runs yet."""
    # In a thread of its own: in the main thread Spark would take over Ctrl-C, in the midst of its own calls.
    with ThreadPoolExecutor(1) as pool:
        started = pool.submit(application.start)
        while not started.done():
            wait()
            if asked.is_set():
                _end_at_once()
            futures.wait([started], timeout=_LOOK_SECONDS)
    started.result()


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
            _end_at_once()
        asked.set()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end_at_once() -> NoReturn:
    """End the process without waiting for anything; Java ends as well, and nothing is lost."""
    console.out.show_cursor()
    console.err.show_cursor()
    os._exit(INTERRUPTED)


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
