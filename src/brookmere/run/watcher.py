"""Follows a running query in a thread: its progress, its skipped records, and its end."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from brookmere.errors import BrookmereError, EngineError, RecordError, TransactionError, WorkerError
from brookmere.run.dead_letters import write_dead_letter
from brookmere.run.launch.start import Launched
from brookmere.run.progress import Progress, ProgressReader
from brookmere.run.query.query import Query
from brookmere.run.skipped_records import SkippedLog

logger = logging.getLogger(__name__)

_LOOK_SECONDS = 0.1
_NOTICE_SECONDS = 0.5
_MOST_TRIES = 3
"""So often a batch is done again by itself; what then still fails does not pass."""


_PASSING = (TransactionError, WorkerError)
"""Failures after which the batch is done again."""


class Watcher:
    """Tells of every batch, and of the end with the error behind it, or None after a stop."""

    def __init__(
        self,
        run: Launched,
        *,
        on_progress: Callable[[Progress], None],
        on_look: Callable[[], None],
        on_ending: Callable[[BrookmereError | None], None],
        on_end: Callable[[BrookmereError | None], None],
    ) -> None:
        """Follow a run. `on_look` is called again and again, `on_ending` while it still holds everything."""
        self._run = run
        self._query = run.query
        self._ended: list[str] = []
        """The names of the queries before, since this application was started."""
        self._tries = 0
        """How often a query was started again since a batch was finished."""
        self._next_notices = 0.0
        self._on_progress = on_progress
        self._on_look = on_look
        self._on_ending = on_ending
        self._on_end = on_end
        self._stop_asked = threading.Event()
        self._timeout = 0.0
        self._reader = ProgressReader()
        self._reported: str | None = None
        self._latest: Progress | None = None
        self._skipped = SkippedLog(run.application)
        self._thread = threading.Thread(target=self._follow, name=f"{run.application}-watcher", daemon=True)

    def start(self) -> None:
        """Begin to follow."""
        self._thread.start()

    def ask_to_stop(self, timeout: float) -> None:
        """Let the query finish its batch and end; after `timeout` seconds the batch is given up."""
        self._timeout = timeout
        self._stop_asked.set()

    @property
    def is_current_thread(self) -> bool:
        """Tell whether a listener is asking."""
        return threading.current_thread() is self._thread

    @property
    def query(self) -> Query:
        """The query that runs, or ran last: another one where a failure has passed."""
        return self._query

    def wait_behind(self, query: Query) -> bool:
        """Wait until a query that has failed is followed by another; False if it was the last."""
        while self._query is query and self._thread.is_alive():
            self._thread.join(_LOOK_SECONDS)
        return self._query is not query

    def latest(self) -> Progress | None:
        """Return the progress of the last batch that has ended."""
        found = self._latest
        return None if found is None else self._reader.seen_at(found, datetime.now(UTC))

    def _follow(self) -> None:
        try:
            error = self._with_log(self._until_the_end_or_worse())
            self._on_ending(error)
        finally:
            self._run.release()
        self._on_end(error)

    def _until_the_end_or_worse(self) -> BrookmereError | None:
        try:
            return self._until_the_end()
        except Exception as broken:
            # Whatever it is, it must become the application's state.
            logger.debug("the query cannot be followed", exc_info=True)
            return EngineError(
                f"The query of {self._run.application} cannot be followed any more: "
                f"{type(broken).__name__}: {broken}. Spark's Java process may have ended."
            )

    def _until_the_end(self) -> BrookmereError | None:
        failure = self._until_the_query_ends()
        while isinstance(failure, _PASSING) and self._tries < _MOST_TRIES and not self._is_stopping:
            self._tries += 1
            logger.warning("%s does the batch again. %s", self._run.application, failure)
            self._ended.append(str(self._query.known_as))
            try:
                self._query = self._run.again(self._ended)
            except BrookmereError as error:
                return error
            failure = self._until_the_query_ends()
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

    def _until_the_query_ends(self) -> BrookmereError | None:
        query = self._query
        while query.handle.isActive:
            if self._stop_asked.wait(_LOOK_SECONDS):
                query.finish(self._timeout)
            self._look()
            self._on_look()
        self._next_notices = 0.0
        self._look()
        self._skipped.flush()
        failure = query.failure()
        if failure is not None and query.raised:
            failure.__cause__ = query.raised[-1]
        query.forget()
        return failure

    def _look(self) -> None:
        self._notice()
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
            self._tries = 0
            self._latest = progress
            self._on_progress(progress)

    def _notice(self) -> None:
        if time.monotonic() < self._next_notices:
            return
        self._next_notices = time.monotonic() + _NOTICE_SECONDS
        for notice in self._query.take_notices():
            logger.warning("%s: %s", self._run.application, notice)

    def _with_log(self, error: BrookmereError | None) -> BrookmereError | None:
        if not isinstance(error, EngineError):
            return error
        told = type(error)(f"{error} Spark's log is {self._run.log}.")
        told.__cause__ = error.__cause__
        return told
