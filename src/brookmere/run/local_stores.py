"""The stores of a running application, for queries in its own process."""

from __future__ import annotations

import threading
from typing import TypeVar

from brookmere.durations import Duration
from brookmere.errors import UnknownStoreError
from brookmere.run.launch.start import RunningApplication
from brookmere.run.positions import ReadPositions
from brookmere.run.progress import Progress
from brookmere.serde.registered import registry_of
from brookmere.state import AnyStore, Position, Replica, StoreStatus
from brookmere.state.replica.places import LOCAL, replica_directory

S = TypeVar("S", bound=AnyStore)


class LocalStores:
    """The replica in the process of the application; it starts when the first store is used."""

    def __init__(self, run: RunningApplication) -> None:
        self._run = run
        self._inputs = ReadPositions(run.query.compiled.plan.topics, run.topics, run.read_before)
        self._lock = threading.Lock()
        self._replica: Replica | None = None
        self._is_closed = False

    def processed(self, progress: Progress) -> None:
        """Note that a batch is finished."""
        read = {each.topic: dict(enumerate(each.position)) for each in progress.inputs}
        self._inputs.processed(Position(read))

    @property
    def replica(self) -> Replica:
        """All stores; each is replicated from its first use on."""
        with self._lock:
            if self._replica is None:
                self._replica = self._opened()
            return self._replica

    def store(self, name: str, type: type[S] | None, timeout: Duration) -> S | AnyStore:
        """Return a store with everything that is now in its changelog."""
        self._refuse_unlogged(name)
        found = self.replica.store(name, type).wait(timeout)
        ends = self._run.topics[found.info.topic].end_offsets()
        return found.at_least({found.info.topic: dict(enumerate(ends))}, timeout)

    def status(self) -> list[StoreStatus]:
        """Return the status of the replicated stores."""
        replica = self._replica
        return [] if replica is None else replica.status()

    def close(self) -> None:
        """Close the replica; its files stay for the next start."""
        self._inputs.end()
        with self._lock:
            self._is_closed = True
            if self._replica is not None:
                self._replica.close()

    def _opened(self) -> Replica:
        run = self._run
        replica = Replica(
            run.application,
            run.stores,
            run.topics,
            replica_directory(run.directory, LOCAL),
            registry=registry_of(run.config),
            name=LOCAL,
            inputs=self._inputs,
        )
        if self._is_closed:
            replica.close()
        return replica

    def _refuse_unlogged(self, name: str) -> None:
        """Explain why a store of the program cannot be queried."""
        topology = self._run.query.compiled.plan.topology
        store = next((each for each in topology.stores if each.name == name), None)
        if store is None or any(info.name == name for info in self._run.stores):
            return
        if not store.logged:
            found, remedy = "it has changelog=False", "Remove that, and start again."
        elif store.queryable:
            found, remedy = "it has no changelog", "Remove it from changelog.disabled, and start again."
        elif store.kind in ("key_value", "window", "session", "versioned"):
            found, remedy = "the program does not name it", "Give its table store=."
        else:
            found, remedy = "it is internal to an operator", "Query a table made from its result."
        raise UnknownStoreError(f"The store {name!r} cannot be queried. Found: {found}. {remedy}")
