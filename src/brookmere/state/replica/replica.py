"""Turns changelogs into stores that can be asked: in files or in memory, in any process."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeVar

from brookmere.errors import (
    BrookmereError,
    DamagedTopicError,
    StoreTypeError,
    TopicError,
    UnknownStoreError,
    UnknownTopicError,
    UnreachableError,
)
from brookmere.names import nearest
from brookmere.serde import Registry
from brookmere.state.description.store_info import StoreInfo, StoreKind
from brookmere.state.position import Position
from brookmere.state.replica.tail import Tail
from brookmere.state.rows.backend import Backend
from brookmere.state.rows.memory import Memory
from brookmere.state.rows.rocksdb import Files, closed
from brookmere.state.rows.rows import tables_of
from brookmere.state.stores.key_value import KeyValueStore
from brookmere.state.stores.stores import AnyStore, Inputs
from brookmere.state.stores.timed import SessionStore, WindowStore
from brookmere.state.stores.versioned import VersionedStore
from brookmere.topics import AnyTopics

S = TypeVar("S", bound=AnyStore)

_CLASSES: dict[StoreKind, type[AnyStore]] = {
    "key_value": KeyValueStore,
    "window": WindowStore,
    "session": SessionStore,
    "versioned": VersionedStore,
}


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """How a store of a replica is."""

    name: str
    kind: StoreKind
    topic: str
    is_ready: bool
    entries: int
    """About how many rows it has."""
    bytes: int
    """How much its files have, or its rows in memory."""
    lag: int
    """How many records of the changelog were missing at the last look."""
    position: Position
    checked_at: int
    """When that was, in milliseconds since 1970; -1 for never."""
    skipped: int
    """How many records of the table's own topic were no rows, because they do not decode."""
    error: str | None
    is_waiting: bool
    """The topic is not there yet: the application has not created it."""


class Replica(Mapping[str, AnyStore]):
    """Stores that follow their changelogs, by name.

    The stores are kept in `directory`, where a replica goes on after a restart, or in memory. Each store is
    followed in a thread of its own, as soon as it is asked for, or from `start()`. Any thread may ask.
    """

    def __init__(
        self,
        application: str,
        stores: Sequence[StoreInfo],
        topics: AnyTopics,
        directory: Path | None = None,
        *,
        in_memory: bool = False,
        registry: Registry | None = None,
        name: str = "local",
        inputs: Inputs | None = None,
    ) -> None:
        if directory is None and not in_memory:
            raise ValueError(
                "a replica is kept in a directory, or in memory: give directory= or in_memory=True"
            )
        self.application = application
        self.name = name
        self.infos: Mapping[str, StoreInfo] = {info.name: info for info in stores}
        self._topics = topics
        self._directory = None if in_memory else directory
        self._registry = registry
        self._inputs = inputs
        self._tails: dict[str, Tail] = {}
        self._stores: dict[str, AnyStore] = {}
        self._lock = threading.RLock()
        self._is_closed = False

    def start(self) -> None:
        """Follow all stores.

        Raises:
            StateError: the directory cannot be used, because another process uses it or files are damaged.
        """
        for name in self.infos:
            self._begin(name)

    def store(self, name: str, type: type[S] | None = None) -> S | AnyStore:
        """Return a store; with `type` only if it is one of these.

        Raises:
            UnknownStoreError: there is no such store.
            StoreTypeError: it is of another type.
        """
        if name not in self.infos:
            raise unknown_store(self.application, name, self.infos)
        found = self._begin(name)
        if type is not None and not isinstance(found, type):
            raise StoreTypeError(
                f"The store {name!r} is no {type.__name__}: it is {found.kind_words}. "
                f"Ask for a {found.__class__.__name__}."
            )
        return found

    def status(self) -> list[StoreStatus]:
        """Tell how the stores are that are followed."""
        return [_status(tail) for tail in list(self._tails.values())]

    @property
    def is_ready(self) -> bool:
        """Whether all stores that are followed have caught up."""
        return all(tail.is_ready for tail in list(self._tails.values()))

    @property
    def error(self) -> BrookmereError | None:
        """What keeps a store from following its changelog, or None; first what does not pass by itself."""
        found = [tail.error for tail in list(self._tails.values()) if tail.error is not None]
        return min(found, key=passes, default=None)

    def close(self) -> None:
        """Stop to follow, and let go of the files. Stores do not answer any more."""
        with self._lock:
            self._is_closed = True
            for tail in self._tails.values():
                if not tail.is_closed:
                    tail.close()

    def __getitem__(self, name: str) -> AnyStore:
        return self.store(name)

    def __contains__(self, name: object) -> bool:
        return name in self.infos

    def __iter__(self) -> Iterator[str]:
        return iter(self.infos)

    def __len__(self) -> int:
        return len(self.infos)

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Replica({self.application!r}, name={self.name!r}, stores={list(self.infos)})"

    def _begin(self, name: str) -> AnyStore:
        found = self._stores.get(name)
        if found is not None:
            return found
        with self._lock:
            if name not in self._stores:
                self._stores[name] = self._opened(self.infos[name])
            return self._stores[name]

    def _opened(self, info: StoreInfo) -> AnyStore:
        key = info.key.for_topic(info.topic, is_key=True, registry=self._registry)
        value = info.value.for_topic(info.topic, is_key=False, registry=self._registry)
        tables = tables_of(info)
        backend: Backend = (
            Memory(tables) if self._directory is None else Files(self._directory / info.name, tables)
        )
        kept = key.canonical() if info.is_source else None
        tail = Tail(info, self._topics, backend, key=key, value=value, kept_key=kept)
        others = {other.topic for other in self.infos.values() if other.topic != info.topic}
        self._tails[info.name] = tail
        if self._is_closed:
            tail.close()
        else:
            tail.start()
        return _CLASSES[info.kind](tail, kept or key, value, inputs=self._inputs, others=others)


def passes(error: BrookmereError) -> bool:
    """Tell whether a replica only waits: for a topic to be there, or for Kafka to answer."""
    return isinstance(error, TopicError | UnreachableError) and not isinstance(error, DamagedTopicError)


def unknown_store(application: str, name: str, known: Collection[str]) -> UnknownStoreError:
    """Return the error for a store that is not there, with the name that may have been meant."""
    close = nearest(name, known)
    hint = f"Did you mean {close!r}?" if close else "Only stores with a name can be asked: give store=."
    return UnknownStoreError(
        f"The application {application!r} has no store {name!r} that can be asked here. "
        f"Found: {', '.join(known) or 'none'}. {hint}"
    )


def _status(tail: Tail) -> StoreStatus:
    info = tail.info
    return StoreStatus(
        info.name,
        info.kind,
        info.topic,
        tail.is_ready and not tail.is_closed,
        *_size(tail),
        tail.lag,
        Position({info.topic: tail.positions}),
        tail.checked_at,
        tail.skipped,
        None if tail.error is None else str(tail.error),
        isinstance(tail.error, UnknownTopicError),
    )


def _size(tail: Tail) -> tuple[int, int]:
    """Return about how many rows there are, and how many bytes; 0 of what is closed, or closes just now."""
    rows = tail.rows
    if tail.is_closed or rows is None:
        return 0, 0
    try:
        return rows.estimate(), tail.backend.bytes()
    except Exception as error:
        if closed(error) is None:
            raise
        return 0, 0
