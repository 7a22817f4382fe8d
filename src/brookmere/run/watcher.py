"""Watches a running query in a thread: its progress, its skipped records, its restarts and its end."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from brookmere.errors import BrookmereError, EngineError, RecordError, TransactionError, WorkerError
from brookmere.run.failed_records import SkippedLog, write_dead_letter
from brookmere.run.launch.start import RunningApplication
from brookmere.run.progress import Progress, ProgressReader
from brookmere.run.query.query import Query

logger = logging.getLogger(__name__)

_POLL_SECONDS = 0.1
_NOTICE_SECONDS = 0.5
_MAX_RESTARTS = 3
"""How often a batch is repeated before its failure becomes that of the application."""
_TEMPORARY = (TransactionError, WorkerError)
"""Failures after which the batch is repeated."""


class Watcher:
    """Reports every batch, and the end with its error, or None after a stop."""

    def __init__(
        self,
        run: RunningApplication,
        *,
        on_progress: Callable[[Progress], None],
        on_poll: Callable[[], None],
        on_ending: Callable[[BrookmereError | None], None],
        on_end: Callable[[BrookmereError | None], None],
    ) -> None:
        """Watch a run. `on_poll` is called regularly, `on_ending` while it still holds its resources."""
        self._run = run
        self._query = run.query
        self._ended: list[str] = []
        """The names of the queries of this run that have ended."""
        self._restarts = 0
        """How often the query was restarted since the last finished batch."""
        self._next_notices = 0.0
        self._on_progress = on_progress
        self._on_poll = on_poll
        self._on_ending = on_ending
        self._on_end = on_end
        self._stop_asked = threading.Event()
        self._timeout = 0.0
        self._reader = ProgressReader()
        self._reported: str | None = None
        self._latest: Progress | None = None
        self._skipped = SkippedLog(run.application)
        self._thread = threading.Thread(target=self._watch, name=f"{run.application}-watcher", daemon=True)

    def start(self) -> None:
        """Start to watch."""
        self._thread.start()

    def ask_to_stop(self, timeout: float) -> None:
        """Let the query finish its batch and end; after `timeout` seconds the batch is aborted."""
        self._timeout = timeout
        self._stop_asked.set()

    @property
    def is_current_thread(self) -> bool:
        """Whether the caller is a listener."""
        return threading.current_thread() is self._thread

    @property
    def query(self) -> Query:
        """The query that runs or ran last; each restart replaces it."""
        return self._query

    def wait_for_restart(self, query: Query) -> bool:
        """Wait until a failed query is restarted; False if it was the last one."""
        while self._query is query and self._thread.is_alive():
            self._thread.join(_POLL_SECONDS)
        return self._query is not query

    def latest(self) -> Progress | None:
        """Return the progress of the last finished batch."""
        found = self._latest
        return None if found is None else self._reader.seen_at(found, datetime.now(UTC))

    def _watch(self) -> None:
        try:
            error = self._with_log(self._watch_until_end())
            self._on_ending(error)
        finally:
            self._run.release()
        self._on_end(error)

    def _watch_until_end(self) -> BrookmereError | None:
        try:
            return self._run_until_end()
        except Exception as broken:
            # Whatever it is, the application must report it as its failure.
            logger.debug("the query cannot be watched", exc_info=True)
            return EngineError(
                f"Brookmere lost the connection to the query of {self._run.application}: "
                f"{type(broken).__name__}: {broken}. Spark's Java process may have ended."
            )

    def _run_until_end(self) -> BrookmereError | None:
        failure = self._until_query_ends()
        while isinstance(failure, _TEMPORARY) and self._restarts < _MAX_RESTARTS and not self._is_stopping:
            self._restarts += 1
            logger.warning("%s repeats the batch. %s", self._run.application, failure)
            self._ended.append(str(self._query.connection.name))
            try:
                self._query = self._run.restart(self._ended)
            except BrookmereError as error:
                return error
            failure = self._until_query_ends()
        letters = self._run.config.errors_dead_letter_queue_topic_name
        if isinstance(failure, RecordError) and letters is not None:
            write_dead_letter(self._run.topics, letters, failure)
        if failure is None and not self._is_stopping:
            return EngineError(
                f"The query of {self._run.application} was stopped from outside. "
                "Stop it with Application.stop(), and the Spark session after it."
            )
        return failure

    @property
    def _is_stopping(self) -> bool:
        return self._stop_asked.is_set()

    def _until_query_ends(self) -> BrookmereError | None:
        query = self._query
        while query.handle.isActive:
            if self._stop_asked.wait(_POLL_SECONDS):
                query.finish(self._timeout)
            self._poll()
            self._on_poll()
        self._next_notices = 0.0
        self._poll()
        self._skipped.flush()
        failure = query.failure()
        if failure is not None and query.raised:
            failure.__cause__ = query.raised[-1]
        query.forget()
        return failure

    def _poll(self) -> None:
        self._log_notices()
        if self._run.skips:
            self._skipped.add(self._query.take_failures())
        spark: Any = self._query.handle._jsq
        last = spark.lastProgress()
        if last is None or last.timestamp() == self._reported:
            return
        self._reported = last.timestamp()
        for progress in self._reader.read(
            spark.recentProgress(), self._query.counters(), self._query.stream_times()
        ):
            self._restarts = 0
            self._latest = progress
            self._on_progress(progress)

    def _log_notices(self) -> None:
        if time.monotonic() < self._next_notices:
            return
        self._next_notices = time.monotonic() + _NOTICE_SECONDS
        for notice in self._query.take_notices():
            logger.warning("%s: %s", self._run.application, notice)

    def _with_log(self, error: BrookmereError | None) -> BrookmereError | None:
        if not isinstance(error, EngineError):
            return error
        complete = type(error)(f"{error} Spark's log is {self._run.log}.")
        complete.__cause__ = error.__cause__
        return complete
