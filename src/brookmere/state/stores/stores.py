"""What all stores of a replica have in common: readiness, lag, positions and queries."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from datetime import timedelta
from typing import Any, ClassVar, NoReturn, Protocol, Self

from brookmere.durations import Duration, to_seconds
from brookmere.errors import PositionError, StoreNotReadyError, StoreTypeError
from brookmere.serde import Serde
from brookmere.state.description.store_info import StoreInfo
from brookmere.state.position import Offsets, Position
from brookmere.state.queries import CountQuery, Listing, Query, QueryResult, Row
from brookmere.state.replica.tail import Tail
from brookmere.state.rows.rocksdb import closed
from brookmere.state.stores.paging import page_of, place_of
from brookmere.state.updates import Update, Updates

_QUESTIONS = {
    "get", "get_with_timestamp", "range", "prefix", "all", "count", "fetch", "fetch_all", "find", "versions"
}  # fmt: skip
_WAIT_SECONDS = 5.0


class Inputs(Protocol):
    """What the application's process knows about its input topics."""

    def topics(self) -> Collection[str]:
        """Return the names of the input topics."""

    def wait(self, wanted: Mapping[str, Offsets], deadline: float) -> bool:
        """Wait until all records up to `wanted` are processed; False if the deadline passes first."""

    def covered(self, changelog: str, positions: Offsets) -> Position:
        """Return how far the input topics were read at these offsets of a changelog, as far as known."""


class AnyStore:
    """A store of a replica. Any thread may query it."""

    kind_words: ClassVar[str]
    """What messages call a store of this kind."""
    answers: ClassVar[str]
    """The methods that messages suggest instead of a wrong one."""

    def __init__(
        self,
        tail: Tail,
        key: Serde,
        value: Serde,
        *,
        inputs: Inputs | None = None,
        others: Collection[str] = (),
    ) -> None:
        self._tail = tail
        self._key = key
        self._value = value
        self._inputs = inputs
        self._others = others
        self._is_stale = False

    @property
    def name(self) -> str:
        """The store's name."""
        return self._tail.info.name

    @property
    def info(self) -> StoreInfo:
        """The description of the store."""
        return self._tail.info

    @property
    def key_serde(self) -> Serde:
        """The serde of keys, without windows."""
        return self._key

    @property
    def value_serde(self) -> Serde:
        """The serde of values."""
        return self._value

    @property
    def is_ready(self) -> bool:
        """Whether the replica has caught up with where the changelog ended when the replica started."""
        return self._tail.is_ready and not self._tail.is_closed

    def position(self) -> Position:
        """Return how far the changelog has been applied to the rows."""
        return Position({self.info.topic: self._tail.positions})

    def inputs(self) -> Position:
        """Return how far the application's input topics are reflected in the rows.

        Known only in the application's own process; empty elsewhere.
        """
        known = self._inputs
        return Position() if known is None else known.covered(self.info.topic, self._tail.positions)

    def lag(self) -> int:
        """Return the lag behind the changelog at the last poll, in records."""
        return self._tail.lag

    def wait(self, timeout: Duration = timedelta(seconds=60)) -> Self:
        """Wait until the store is ready.

        Raises:
            StoreNotReadyError: it is not ready within `timeout`.
        """
        with self._tail.changed:
            self._tail.changed.wait_for(lambda: self.is_ready or self._tail.is_closed, to_seconds(timeout))
        if not self.is_ready:
            self._refuse()
        return self

    def stale(self) -> Self:
        """Return the store in a form that can be queried before it has caught up, with the rows it has."""
        other = copy(self)
        other._is_stale = True
        return other

    def at_least(
        self, position: Mapping[str, Offsets], timeout: Duration = timedelta(seconds=_WAIT_SECONDS)
    ) -> Self:
        """Wait until the rows cover `position`, and return the store.

        Results of queries carry a position. In the application's process it may also name input topics:
        then records up to those offsets have been processed.

        Raises:
            PositionError: the replica does not reach it within `timeout`, or does not know the topic.
        """
        deadline = time.monotonic() + to_seconds(timeout)
        own: dict[int, int] = dict(position.get(self.info.topic, {}))
        read = () if self._inputs is None else self._inputs.topics()
        elsewhere = {
            topic: offsets
            for topic, offsets in position.items()
            # The positions of other stores say nothing about this one.
            if topic != self.info.topic and (topic in read or topic not in self._others)
        }
        if elsewhere:
            for partition, end in self._behind_inputs(elsewhere, deadline).items():
                own[partition] = max(end, own.get(partition, 0))
        with self._tail.changed:
            self._tail.changed.wait_for(
                lambda: self._has(own) or self._tail.is_closed, max(0.0, deadline - time.monotonic())
            )
        if not self._has(own):
            why = "" if self._tail.error is None else f" ({self._tail.error})"
            raise PositionError(
                f"The store {self.name!r} has not reached the requested position within "
                f"{to_seconds(timeout):g} s. "
                f"Found: {dict(self._tail.positions)} of {self.info.topic}, wanted {own}{why}. "
                "Wait longer, or check that the application is running."
            )
        return self

    def updates(self, key: Any = None) -> Updates:
        """Subscribe to the updates of the store from now on, or to those of one key."""
        raw = None if key is None else self._key_bytes(key)
        cut = self._window_bytes
        updates = Updates(
            self._update,
            lambda found: raw is None or (found[:-cut] if cut else found) == raw,
            self._tail.unsubscribe,
        )
        self._tail.subscribe(updates)
        return updates

    def query(self, query: Query) -> QueryResult:
        """Run a query, and return its result with its position and freshness.

        Raises:
            StoreTypeError: stores of this kind do not support the query.
            StoreNotReadyError: the replica has not caught up yet.
        """
        given: object = query
        if not isinstance(given, Query):
            raise TypeError(
                f"a query is an object such as KeyQuery(key); found {type(given).__name__} {given!r}"
            )
        if self.info.kind not in query.kinds:
            raise StoreTypeError(
                f"The store {self.name!r} does not support {type(query).__name__}: it is {self.kind_words}, "
                f"and this queries {' or '.join(query.kinds)} stores. Query it with {self.answers}."
            )
        position, lag, read = self.position(), self.lag(), self.inputs()
        checked_at = self._tail.checked_at
        with self._answering():
            if isinstance(query, CountQuery):
                return QueryResult(self._rows().count(), position, lag, checked_at, inputs=read)
            if isinstance(query, Listing):
                rows, cursor = page_of(self._list(query, place_of(query.cursor)), query.limit)
                return QueryResult(rows, position, lag, checked_at, cursor, read)
            return QueryResult(self._find(query), position, lag, checked_at, inputs=read)

    def count(self) -> int:
        """Return the exact number of rows."""
        with self._answering():
            return int(self._rows().count())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, ready={self.is_ready}, lag={self.lag()})"

    def __getattr__(self, name: str) -> NoReturn:
        if name in _QUESTIONS:
            raise StoreTypeError(
                f"The store {self.name!r} has no {name}(): it is {self.kind_words}. "
                f"Query it with {self.answers}."
            )
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    # Implemented by each kind of store.

    _window_bytes: ClassVar[int] = 0

    def _find(self, query: Any) -> Row | None:
        raise NotImplementedError

    def _list(self, query: Any, after: bytes | None) -> Iterator[tuple[bytes, Row]]:
        raise NotImplementedError

    def _shown_key(self, raw: bytes) -> Any:
        return self._key.deserialize(raw)

    # Shared by all kinds.

    def _rows(self) -> Any:
        """Return the rows if they may be queried."""
        rows = self._tail.answering
        if rows is None and self._is_stale and not self._tail.is_closed:
            rows = self._tail.rows
        if rows is None:
            self._refuse()
        return rows

    def _refuse(self) -> NoReturn:
        tail = self._tail
        if tail.is_closed:
            raise StoreNotReadyError(
                f"The replica of the store {self.name!r} is closed and can no longer be queried. "
                "Query a running one."
            )
        found = f"a lag of {self.lag()} records" if tail.error is None else str(tail.error)
        raise StoreNotReadyError(
            f"The store {self.name!r} is not ready: its replica has not caught up with the topic "
            f"{self.info.topic} yet. Found: {found}. Wait with wait(), or read what is there with stale()."
        )

    @contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            refusal = closed(error)
            if refusal is None:
                raise
            raise refusal from error

    def _guarded(self, rows: Iterable[tuple[bytes, Row]]) -> Iterator[tuple[Any, Any]]:
        """Iterate over keys and values; a close of the replica in the meantime raises a clear error."""
        with self._answering():
            for _, row in rows:
                yield row.key, row.value

    def _key_bytes(self, key: Any) -> bytes:
        raw = self._key.serialize(key)
        if raw is None:
            raise ValueError(f"rows of the store {self.name!r} always have a key, found None")
        return raw

    def _has(self, own: Offsets) -> bool:
        positions = self._tail.positions
        return all(positions.get(partition, 0) >= at for partition, at in own.items())

    def _behind_inputs(self, wanted: Mapping[str, Offsets], deadline: float) -> Mapping[int, int]:
        known = () if self._inputs is None else self._inputs.topics()
        unknown = [topic for topic in wanted if topic not in known]
        if unknown or self._inputs is None:
            raise PositionError(
                f"The replica of the store {self.name!r} does not know how far the topic {unknown[0]!r} has "
                f"been processed. Known here: {', '.join(sorted({self.info.topic, *known}))}. "
                "Query in the application's own process, or use the position of a query result.",
                topic=unknown[0],
            )
        if not self._inputs.wait(wanted, deadline):
            raise PositionError(
                f"The application has not processed everything up to {Position(wanted)!r} in time. "
                "Wait longer, or check that it is running."
            )
        return self._tail.ends_now()

    def _update(self, raw: tuple[bytes, bytes | None, int, int, int]) -> Update:
        key, value, timestamp, partition, offset = raw
        return Update(self._shown_key(key), self._value.deserialize(value), timestamp, partition, offset)
