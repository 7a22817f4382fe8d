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
from brookmere.dsl.program import Builder
from brookmere.durations import Duration, to_seconds
from brookmere.errors import BrookmereError, StoreNotReadyError, UnsupportedError
from brookmere.run.evolution.comparison import Evolution
from brookmere.run.launch.start import Launched, check_application, launch_application
from brookmere.run.lifecycle import Lifecycle, State, StateListener
from brookmere.run.progress import Progress
from brookmere.run.status import StatusFile, status_of
from brookmere.run.stores import LocalStores
from brookmere.run.watcher import Watcher
from brookmere.state import AnyStore, Replica
from brookmere.state.description.status import Status
from brookmere.topics.times import now_ms
from brookmere.topology.nodes import Topology

logger = logging.getLogger(__name__)

S = TypeVar("S", bound=AnyStore)


@dataclass(frozen=True, slots=True)
class _Running:
    """What belongs to an application from its start on."""

    launched: Launched
    watcher: Watcher
    stores: LocalStores
    file: StatusFile


class Application:
    """A program that runs on embedded topics, and goes on where it stood when it last ran.

    `config` is a mapping of Kafka Streams' settings or a file of properties; keywords with `__` for each dot
    win. Any thread may call the methods. A stopped application does not start again: make a new one.

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
        # Reentrant, for a signal handler that stops what its own thread is starting.
        self._starting = threading.RLock()
        self._running: _Running | None = None
        self._listeners: list[Callable[[Progress], object]] = []

    @property
    def application_id(self) -> str:
        """The setting application.id, or else the program's own name."""
        return self._config.application_id or self._program.application_id

    @property
    def config(self) -> Config:
        """The settings."""
        return self._config

    @property
    def topology(self) -> Topology:
        """The program's topology, as it runs."""
        if self._running is not None:
            return self._running.launched.query.compiled.plan.topology
        program = self._program
        if isinstance(program, Topology):
            return program
        return program.build(optimization=self._config.topology_optimization)

    @property
    def state_directory(self) -> Path:
        """Where the application keeps its positions, its state and Spark's log."""
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
        """Call `listener(progress)` after every batch, in a thread of its own. What it raises is logged."""
        self._listeners.append(listener)

    def start(self) -> None:
        """Start to run, and return when the query runs.

        What can be known before is refused before anything runs; the application can then be started again.

        Raises:
            TopologyError: the program is wrong, its topics are missing or do not fit together.
            StateError: the state directory cannot be used; an InstanceError if the application runs already.
            UnsupportedError: the application was started before.
        """
        with self._starting:
            self._refuse_second_start()
            logger.info("starting %s with %r", self.application_id, self._config)
            launched = launch_application(self._program, self._config, self.state_directory)
            watcher = Watcher(
                launched,
                on_progress=self._tell,
                on_look=self._look,
                on_ending=self._ending,
                on_end=self._end,
            )
            file = StatusFile(self.state_directory, self.status)
            self._running = _Running(launched, watcher, LocalStores(launched), file)
            if not self._lifecycle.move("running"):
                # Stopped by a signal in the meantime.
                watcher.ask_to_stop(0.0)
            watcher.start()

    def check(self) -> Evolution | None:
        """Tell what a start would do with the state that an earlier version has left; None if there is none.

        Nothing is started or changed, and the version before may be running.

        Raises:
            TopologyError: the program is wrong, its topics are missing or do not fit together.
            StateError: the state directory cannot be read.
        """
        return check_application(self._program, self._config, self.state_directory)

    def stop(self, timeout: Duration = timedelta(seconds=60)) -> None:
        """Finish the batch at hand, stop, and wait for it; a second call only waits.

        A batch that takes longer than `timeout` is given up, and repeated at the next start. Called by
        a listener it does not wait.
        """
        with self._starting:
            if self._lifecycle.move("stopped"):
                return
            asked = self._lifecycle.move("stopping")
        if self._running is None:
            return
        watcher = self._running.watcher
        if asked:
            watcher.ask_to_stop(to_seconds(timeout))
        if not watcher.is_current_thread:
            self._lifecycle.wait()

    def wait(self, timeout: Duration | None = None) -> bool:
        """Wait until the application has stopped or failed; False if it did not within `timeout`."""
        return self._lifecycle.wait(None if timeout is None else to_seconds(timeout))

    def progress(self) -> Progress | None:
        """Return the progress of the last batch, or None before the first."""
        return None if self._running is None else self._running.watcher.latest()

    def status(self) -> Status:
        """Return how the application is: what its nodes have done, its topics, its state and its stores."""
        return self._status(self.state, self.error)

    @overload
    def store(self, name: str, *, type: type[S], timeout: Duration = timedelta(seconds=60)) -> S: ...
    @overload
    def store(self, name: str, *, type: None = None, timeout: Duration = timedelta(seconds=60)) -> Any: ...
    def store(
        self, name: str, *, type: type[AnyStore] | None = None, timeout: Duration = timedelta(seconds=60)
    ) -> Any:
        """Return a store to ask, with everything that is in its changelog now.

        The first call begins to follow the changelog into files in the state directory; later ones go on.
        Wait at most `timeout` for it. With `type` another kind of store is refused.

        Raises:
            UnknownStoreError: there is no such store, or it has no changelog.
            StoreNotReadyError: it has not caught up in time, or the application does not run.
            StoreTypeError: the store is of another kind than `type`.
        """
        return self._local.store(name, type, timeout)

    @property
    def stores(self) -> Replica:
        """The stores by name; each is followed from the first time on that it is asked for.

        Raises:
            StoreNotReadyError: the application does not run.
        """
        return self._local.replica

    def process_all_available(self) -> None:
        """Wait until all records that are in the topics now are processed.

        Raises:
            RecordError: a record failed, and its handler does not continue.
            EngineError: the query failed for another reason.
            UnsupportedError: the application does not run.
        """
        if self.error is None and (self._running is None or self.state not in ("running", "stopping")):
            raise UnsupportedError(
                f"{self.application_id} is {self.state}, so it processes nothing. Start an application first."
            )
        if self._running is not None and self.error is None:
            self._process_all(self._running.watcher)
        if self.error is not None:
            raise self.error

    def _process_all(self, watcher: Watcher) -> None:
        while True:
            query = watcher.query
            try:
                query.process_all_available()
                return
            except BrookmereError:
                # What it does about the failure belongs to it: afterwards the state tells of it.
                if not watcher.wait_behind(query):
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
        if self.state == "created" and self._running is None:
            return
        raise UnsupportedError(
            f"{self.application_id} is {self.state}, and an application starts once. "
            "Make a new bm.Application: it goes on where this one stood."
        )

    @property
    def _local(self) -> LocalStores:
        if self._running is None or self.state not in ("running", "stopping"):
            raise StoreNotReadyError(
                f"{self.application_id} is {self.state}, so its stores cannot be asked here. "
                "Start it, and ask while it runs."
            )
        return self._running.stores

    def _status(self, state: State, error: Exception | None) -> Status:
        running = self._running
        if running is None:
            return Status(self.application_id, state, os.getpid(), None, now_ms())
        return status_of(
            running.launched,
            self.progress(),
            state=state,
            error=error,
            followed=running.stores.status(),
        )

    def _look(self) -> None:
        if self._running is not None:
            self._running.file.tick()

    def _tell(self, progress: Progress) -> None:
        if self._running is not None:
            self._running.stores.processed(progress)
            self._running.file.due()
        for listener in list(self._listeners):
            try:
                listener(progress)
            except Exception:
                logger.exception("a listener failed on the progress of batch %d", progress.batch)

    def _ending(self, error: BrookmereError | None) -> None:
        if self._running is not None:
            self._running.file.write(lambda: self._status("stopped" if error is None else "failed", error))
            try:
                self._running.stores.close()
            except Exception:
                # The application has ended all the same, and must say so.
                logger.exception("the stores of %s cannot be closed", self.application_id)

    def _end(self, error: BrookmereError | None) -> None:
        if error is None:
            self._lifecycle.move("stopped")
        else:
            logger.error("%s failed. %s", self.application_id, error)
            self._lifecycle.move("failed", error)
