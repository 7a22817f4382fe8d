"""Replica: stores that follow their changelogs, in files or in memory, in any process."""

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
    """The status of a store in a replica."""

    name: str
    kind: StoreKind
    topic: str
    is_ready: bool
    entries: int
    """The estimated number of rows."""
    bytes: int
    """The size of its files, or of its rows in memory."""
    lag: int
    """The lag behind the changelog at the last poll, in records."""
    position: Position
    checked_at: int
    """When that was, in milliseconds since 1970; -1 means never."""
    skipped: int
    """How many undecodable records of the table's source topic were skipped."""
    error: str | None
    is_waiting: bool
    """The topic does not exist yet: the application has not created it."""


class Replica(Mapping[str, AnyStore]):
    """Stores that follow their changelogs, by name.

    Rows are stored in `directory`, from which a replica resumes after a restart, or in memory. A background
    thread per store follows its changelog, from `start()` or the first access. Any thread may query.
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
            raise ValueError("a replica needs a directory or in_memory=True; pass exactly one of them")
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
            StateError: the directory is used by another process, or its files are damaged.
        """
        for name in self.infos:
            self._begin(name)

    def store(self, name: str, type: type[S] | None = None) -> S | AnyStore:
        """Return a store; with `type`, only if it is of that type.

        Raises:
            UnknownStoreError: there is no such store.
            StoreTypeError: it is of another type.
        """
        if name not in self.infos:
            raise unknown_store(self.application, name, self.infos)
        found = self._begin(name)
        if type is not None and not isinstance(found, type):
            raise StoreTypeError(
                f"The store {name!r} is not a {type.__name__}: it is {found.kind_words}. "
                f"Request a {found.__class__.__name__}."
            )
        return found

    def status(self) -> list[StoreStatus]:
        """Return the status of the stores that are being followed."""
        return [_status(tail) for tail in list(self._tails.values())]

    @property
    def is_ready(self) -> bool:
        """Whether all followed stores have caught up."""
        return all(tail.is_ready for tail in list(self._tails.values()))

    @property
    def error(self) -> BrookmereError | None:
        """What keeps a store from following its changelog, or None; permanent errors come first."""
        found = [tail.error for tail in list(self._tails.values()) if tail.error is not None]
        return min(found, key=passes, default=None)

    def close(self) -> None:
        """Stop following and close the files. The stores can no longer be queried."""
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
    """Return whether an error is transient: a topic does not exist yet, or Kafka does not respond."""
    return isinstance(error, TopicError | UnreachableError) and not isinstance(error, DamagedTopicError)


def unknown_store(application: str, name: str, known: Collection[str]) -> UnknownStoreError:
    """Return the error for an unknown store, with the nearest known name."""
    close = nearest(name, known)
    hint = f"Did you mean {close!r}?" if close else "Only named stores can be queried: name it with store=."
    return UnknownStoreError(
        f"The application {application!r} has no store {name!r} that can be queried here. "
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
    """Return the estimated rows and bytes; 0 if the store is closed or closing."""
    rows = tail.rows
    if tail.is_closed or rows is None:
        return 0, 0
    try:
        return rows.estimate(), tail.backend.bytes()
    except Exception as error:
        if closed(error) is None:
            raise
        return 0, 0
