"""Application: a program that runs from topics to topics until it is stopped."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, overload

from brookmere.config import Config, Settings, read
from brookmere.dsl.base_builder import Builder
from brookmere.durations import Duration, to_seconds
from brookmere.errors import BrookmereError, StoreNotReadyError, UnsupportedError
from brookmere.run.evolution.comparison import Evolution
from brookmere.run.launch.check import check_application
from brookmere.run.launch.start import RunningApplication, start_application
from brookmere.run.lifecycle import Lifecycle, State, StateListener
from brookmere.run.local_stores import LocalStores
from brookmere.run.progress import Progress
from brookmere.run.status import StatusFile, status_of
from brookmere.run.watcher import Watcher
from brookmere.state import AnyStore, Replica
from brookmere.state.description.status import Status
from brookmere.topics.times import now_ms
from brookmere.topology.nodes import Topology

logger = logging.getLogger(__name__)

S = TypeVar("S", bound=AnyStore)


@dataclass(frozen=True, slots=True)
class _Run:
    """What belongs to an application from its start on."""

    application: RunningApplication
    watcher: Watcher
    stores: LocalStores
    file: StatusFile


class Application:
    """Run a program from topics to topics; a new start resumes from the last commit.

    `config` is a mapping of Kafka Streams' settings or the path of a properties file; keywords, with `__` for
    each dot, take precedence. All methods are thread-safe. A stopped application does not start again: create
    a new one.

    >>> import tempfile
    >>> import brookmere as bm
    >>> home = tempfile.mkdtemp()
    >>> topics = bm.Topics(home)
    >>> _ = topics.create("in").append([bm.Record(b"a", b"hello", 0)])
    >>> app = bm.StreamsBuilder("shout", key=bm.Text(), value=bm.Text())
    >>> app.stream("in").map_values(lambda value: value + "!").to("out")
    >>> with Application(app, {"topics.dir": home, "state.dir": tempfile.mkdtemp()}) as application:
    ...     application.process_all_available()
    >>> [record.value for record in topics["out"].read(0)]
    [b'hello!']
    """

    def __init__(self, program: Builder | Topology, config: Settings = None, **overrides: Any) -> None:
        self._program = program
        self._config = read(config, **overrides)
        self._lifecycle = Lifecycle()
        # Reentrant, for a signal handler that stops the application while its own thread starts it.
        self._starting = threading.RLock()
        self._run: _Run | None = None
        self._listeners: list[Callable[[Progress], object]] = []

    @property
    def application_id(self) -> str:
        """The setting application.id, or else the name of the program."""
        return self._config.application_id or self._program.application_id

    @property
    def config(self) -> Config:
        """The settings."""
        return self._config

    @property
    def topology(self) -> Topology:
        """The topology of the program, as it runs."""
        if self._run is not None:
            return self._run.application.query.compiled.plan.topology
        program = self._program
        if isinstance(program, Topology):
            return program
        return program.build(optimization=self._config.topology_optimization)

    @property
    def state_directory(self) -> Path:
        """The directory with the offsets, the state and Spark's log."""
        return self._config.state_dir / self.application_id

    @property
    def state(self) -> State:
        """One of "created", "running", "stopping", "stopped" and "failed"."""
        return self._lifecycle.state

    @property
    def error(self) -> Exception | None:
        """Why the application failed, or None."""
        return self._lifecycle.error

    def on_state_change(self, listener: StateListener) -> None:
        """Call `listener(new, old)` at every change of the state. What it raises is logged."""
        self._lifecycle.listen(listener)

    def on_progress(self, listener: Callable[[Progress], object]) -> None:
        """Call `listener(progress)` after every batch, in a background thread. What it raises is logged."""
        self._listeners.append(listener)

    def start(self) -> None:
        """Start the application, and return once its query runs.

        Validates everything before it starts, and reports all errors together; fix them and start again.

        Raises:
            TopologyError: the program is invalid, or its topics are missing or do not match.
            StateError: the state directory cannot be used; an InstanceError if the application already runs.
            UnsupportedError: the application was started before.
        """
        with self._starting:
            self._refuse_second_start()
            logger.info("starting %s with %r", self.application_id, self._config)
            application = start_application(self._program, self._config, self.state_directory)
            watcher = Watcher(
                application,
                on_progress=self._report,
                on_poll=self._poll,
                on_ending=self._ending,
                on_end=self._end,
            )
            file = StatusFile(self.state_directory, self.status)
            self._run = _Run(application, watcher, LocalStores(application), file)
            if not self._lifecycle.move("running"):
                # A signal has stopped it in the meantime.
                watcher.ask_to_stop(0.0)
            watcher.start()

    def check(self) -> Evolution | None:
        """Return what a start would do with the state of the previous version, or None if there is no state.

        Starts and changes nothing; the previous version may be running.

        Raises:
            TopologyError: the program is invalid, or its topics are missing or do not match.
            StateError: the state directory cannot be read.
        """
        return check_application(self._program, self._config, self.state_directory)

    def stop(self, timeout: Duration = timedelta(seconds=60)) -> None:
        """Finish the current batch and stop; wait for the end. A second call only waits.

        A batch that takes longer than `timeout` is aborted and repeated at the next start. Called from
        a listener, it does not wait.
        """
        with self._starting:
            if self._lifecycle.move("stopped"):
                return
            asked = self._lifecycle.move("stopping")
        if self._run is None:
            return
        watcher = self._run.watcher
        if asked:
            watcher.ask_to_stop(to_seconds(timeout))
        if not watcher.is_current_thread:
            self._lifecycle.wait()

    def wait(self, timeout: Duration | None = None) -> bool:
        """Wait until the application has stopped or failed; False if it did not within `timeout`."""
        return self._lifecycle.wait(None if timeout is None else to_seconds(timeout))

    def progress(self) -> Progress | None:
        """Return the progress of the last batch, or None before the first."""
        return None if self._run is None else self._run.watcher.latest()

    def status(self) -> Status:
        """Return the status: counters of nodes, offsets and lag of topics, size of state and stores."""
        return self._status(self.state, self.error)

    @overload
    def store(self, name: str, *, type: type[S], timeout: Duration = timedelta(seconds=60)) -> S: ...
    @overload
    def store(self, name: str, *, type: None = None, timeout: Duration = timedelta(seconds=60)) -> Any: ...
    def store(
        self, name: str, *, type: type[AnyStore] | None = None, timeout: Duration = timedelta(seconds=60)
    ) -> Any:
        """Return a store to query, with everything that is in its changelog now.

        The first call starts a replica of the changelog in the state directory, which later calls share.
        Wait at most `timeout` for it to catch up. With `type`, only a store of this type is accepted.

        Raises:
            UnknownStoreError: there is no such store, or it has no changelog.
            StoreNotReadyError: it has not caught up in time, or the application does not run.
            StoreTypeError: the store is not of the type `type`.
        """
        return self._local.store(name, type, timeout)

    @property
    def stores(self) -> Replica:
        """The stores by name; the replica of a store starts when it is first used.

        Raises:
            StoreNotReadyError: the application does not run.
        """
        return self._local.replica

    def process_all_available(self) -> None:
        """Wait until all records that are now in the topics are processed.

        Raises:
            RecordError: a record failed, and its handler does not continue.
            EngineError: the query failed for another reason.
            UnsupportedError: the application does not run.
        """
        if self.error is None and (self._run is None or self.state not in ("running", "stopping")):
            raise UnsupportedError(
                f"{self.application_id} is {self.state}, so it processes nothing. Start an application first."
            )
        if self._run is not None and self.error is None:
            self._process_all(self._run.watcher)
        if self.error is not None:
            raise self.error

    def _process_all(self, watcher: Watcher) -> None:
        while True:
            query = watcher.query
            try:
                query.process_all_available()
                return
            except BrookmereError:
                # The watcher decides whether to restart the query or to fail.
                if not watcher.wait_for_restart(query):
                    self.wait()
                    return

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        if kind is None and self.error is not None:
            raise self.error

    def __repr__(self) -> str:
        return f"Application({self.application_id!r}, state={self.state!r})"

    def _refuse_second_start(self) -> None:
        if self.state == "created" and self._run is None:
            return
        raise UnsupportedError(
            f"{self.application_id} is {self.state}, and an application starts once. "
            "Create a new bm.Application: it resumes from the last commit."
        )

    @property
    def _local(self) -> LocalStores:
        if self._run is None or self.state not in ("running", "stopping"):
            raise StoreNotReadyError(
                f"{self.application_id} is {self.state}, so its stores cannot be queried here. "
                "Start it, and query the stores while it runs."
            )
        return self._run.stores

    def _status(self, state: State, error: Exception | None) -> Status:
        run = self._run
        if run is None:
            return Status(self.application_id, state, os.getpid(), None, now_ms())
        return status_of(
            run.application,
            self.progress(),
            state=state,
            error=error,
            followed=run.stores.status(),
        )

    def _poll(self) -> None:
        if self._run is not None:
            self._run.file.tick()

    def _report(self, progress: Progress) -> None:
        if self._run is not None:
            self._run.stores.processed(progress)
            self._run.file.due()
        for listener in list(self._listeners):
            try:
                listener(progress)
            except Exception:
                logger.exception("a listener failed on the progress of batch %d", progress.batch)

    def _ending(self, error: BrookmereError | None) -> None:
        if self._run is not None:
            self._run.file.write(lambda: self._status("stopped" if error is None else "failed", error))
            try:
                self._run.stores.close()
            except Exception:
                # The application has ended all the same, and must report it.
                logger.exception("the stores of %s cannot be closed", self.application_id)

    def _end(self, error: BrookmereError | None) -> None:
        if error is None:
            self._lifecycle.move("stopped")
        else:
            logger.error("%s failed. %s", self.application_id, error)
            self._lifecycle.move("failed", error)
