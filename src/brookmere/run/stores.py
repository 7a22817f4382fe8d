"""Turns the stores of a running application into ones that its own process can ask."""

from __future__ import annotations

import threading
from typing import TypeVar

from brookmere.durations import Duration
from brookmere.errors import UnknownStoreError
from brookmere.run.launch.start import Launched
from brookmere.run.positions import ReadPositions
from brookmere.run.progress import Progress
from brookmere.serde.registered import registry_of
from brookmere.state import AnyStore, Position, Replica, StoreStatus
from brookmere.state.replica.places import LOCAL, replica_directory

S = TypeVar("S", bound=AnyStore)


class LocalStores:
    """The replica in the application's process: it begins when the first store is asked for."""

    def __init__(self, run: Launched) -> None:
        self._run = run
        self._inputs = ReadPositions(run.query.compiled.plan.topics, run.topics, run.read_before)
        self._lock = threading.Lock()
        self._replica: Replica | None = None
        self._is_closed = False

    def processed(self, progress: Progress) -> None:
        """Tell that a batch is done."""
        read = {each.topic: dict(enumerate(each.position)) for each in progress.inputs}
        self._inputs.processed(Position(read))

    @property
    def replica(self) -> Replica:
        """All stores; each is followed from the first time on that it is asked for."""
        with self._lock:
            if self._replica is None:
                self._replica = self._opened()
            return self._replica

    def store(self, name: str, type: type[S] | None, timeout: Duration) -> S | AnyStore:
        """Return a store that has everything which is in its changelog now."""
        self._refuse_unlogged(name)
        found = self.replica.store(name, type).wait(timeout)
        ends = self._run.topics[found.info.topic].end_offsets()
        return found.at_least({found.info.topic: dict(enumerate(ends))}, timeout)

    def status(self) -> list[StoreStatus]:
        """Tell how the stores are that are followed."""
        replica = self._replica
        return [] if replica is None else replica.status()

    def close(self) -> None:
        """End the replica; its files stay for the next start."""
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
            replica_directory(run.instance.directory, LOCAL),
            registry=registry_of(run.config),
            name=LOCAL,
            inputs=self._inputs,
        )
        if self._is_closed:
            replica.close()
        return replica

    def _refuse_unlogged(self, name: str) -> None:
        """Say why a store that the program has cannot be asked."""
        topology = self._run.query.compiled.plan.topology
        store = next((each for each in topology.stores if each.name == name), None)
        if store is None or any(info.name == name for info in self._run.stores):
            return
        if not store.logged:
            found, remedy = "it was made with changelog=False", "Leave that out, and start again."
        elif store.queryable:
            found, remedy = "it has no changelog", "Take it off changelog.disabled, and start again."
        elif store.kind in ("key_value", "window", "session", "versioned"):
            found, remedy = "the program gives it no name of its own", "Give its table store=."
        else:
            found, remedy = "it belongs to an operator", "Ask a table that comes of it."
        raise UnknownStoreError(f"The store {name!r} cannot be asked. Found: {found}. {remedy}")
