"""Run an application to its end: show its progress, and stop it on a signal."""

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
"""The exit code of a command that Ctrl-C ended, as in shells."""


def supervise(
    application: Application,
    view: View,
    *,
    until_idle: bool = False,
    serving: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> None:
    """Run an application until a signal, until it is idle, or until it fails.

    `serving` returns a context that is entered once the application runs and left before it stops.

    Raises:
        BrookmereError: the application does not start, or failed.
    """
    batches: SimpleQueue[Progress] = SimpleQueue()
    application.on_progress(batches.put)
    with failure_out_of_log(), view.screen(), stop_signals() as stop_requested:
        start(application, stop_requested, lambda: view.show("starting", None, []))
        held = ExitStack()
        try:
            held.enter_context(serving())
            idle = _idleness(application) if until_idle else threading.Event()
            stopping = False
            while not application.wait(timedelta(seconds=_LOOK_SECONDS)):
                view.show(application.state, application.progress(), _taken(batches))
                if (stop_requested.is_set() or idle.is_set()) and not stopping:
                    stopping = True
                    # In another thread: the view keeps updating while the last batch completes.
                    threading.Thread(target=_stop, args=(held, application), daemon=True).start()
        finally:
            _stop(held, application)
        view.show(application.state, application.progress(), _taken(batches))
    if application.error is not None:
        raise application.error


def _stop(held: ExitStack, application: Application) -> None:
    # Stop the server first: clients should get a refused connection, not an error about closed stores.
    held.close()
    application.stop()


def start(application: Application, stop_requested: threading.Event, wait: Callable[[], object]) -> None:
    """Start an application, calling `wait` meanwhile; a signal ends the process, as nothing runs yet."""
    # In a separate thread: in the main thread, Spark would handle Ctrl-C in the middle of its own calls.
    with ThreadPoolExecutor(1) as pool:
        started = pool.submit(application.start)
        while not started.done():
            wait()
            if stop_requested.is_set():
                _end_at_once()
            futures.wait([started], timeout=_LOOK_SECONDS)
    started.result()


@contextmanager
def failure_out_of_log() -> Iterator[None]:
    """Keep a failure out of the log, because the command reports it when it ends."""
    logger = logging.getLogger("brookmere.run.application")
    logger.addFilter(_is_not_failure)
    try:
        yield
    finally:
        logger.removeFilter(_is_not_failure)


@contextmanager
def stop_signals() -> Iterator[threading.Event]:
    """Yield an event that the first Ctrl-C or SIGTERM sets; a second Ctrl-C ends the process."""
    stop_requested = threading.Event()

    def handle(number: int, frame: object) -> None:  # noqa: ARG001
        if stop_requested.is_set() and number == signal.SIGINT:
            _end_at_once()
        stop_requested.set()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop_requested
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end_at_once() -> NoReturn:
    """End the process immediately; Java exits as well, and nothing is lost."""
    console.out.show_cursor()
    console.err.show_cursor()
    os._exit(INTERRUPTED)


def _idleness(application: Application) -> threading.Event:
    """Return an event that is set once all available records are processed."""
    idle = threading.Event()

    def wait() -> None:
        try:
            application.process_all_available()
        except BrookmereError as failure:
            # The application records the error, and `supervise` raises it.
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


def _is_not_failure(record: logging.LogRecord) -> bool:
    return record.levelno < logging.ERROR
