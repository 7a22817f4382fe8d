"""Read pages of rows from a replica in this process."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from brookmere.cli.programs.applications import Known
from brookmere.cli.query.query_options import QueryOptions, check, query_of
from brookmere.cli.replica.lifecycle import make_replica, store_errors_out_of_log
from brookmere.cli.terminal import console
from brookmere.errors import CommandError, StateError, StoreNotReadyError
from brookmere.state import AnyStore, CountQuery, Position, QueryResult, Replica, Row, StoreInfo, StoreKind
from brookmere.state.description.json_values import row_json

_PATIENCE_SECONDS = 0.1
_NEVER = -1
NAME = "query"
"""The replica whose files make the next query fast."""


@dataclass(frozen=True, slots=True)
class Page:
    """Rows as JSON, and how fresh they are."""

    rows: list[str]
    position: Position
    lag: int | None
    """None if unknown."""
    cursor: str | None = None


class StoreReader(Protocol):
    """Reads the rows of one store."""

    kind: StoreKind

    def page(self, options: QueryOptions, limit: int, cursor: str | None) -> Page:
        """Return rows, at most `limit`."""

    def count(self, options: QueryOptions) -> tuple[int, Page]:
        """Return the number of rows, and an empty page that says how fresh it is."""


class LocalReader:
    """Reads from a replica in this process."""

    def __init__(self, store: AnyStore) -> None:
        self._store = store
        self.kind: StoreKind = store.info.kind

    def page(self, options: QueryOptions, limit: int, cursor: str | None) -> Page:
        store = self._store
        result = store.query(query_of(options, self.kind, store.key_serde, limit, cursor))
        rows = result.value if isinstance(result.value, list) else [result.value] if result.value else []
        return _page(result, [self._text(row) for row in rows])

    def count(self, options: QueryOptions) -> tuple[int, Page]:  # noqa: ARG002 - a count takes no options
        result = self._store.query(CountQuery())
        return result.value, _page(result, [])

    def _text(self, row: Row) -> str:
        return row_json(
            row, self._store.key_serde, self._store.value_serde, is_version=self.kind == "versioned"
        ).decode()


def _page(result: QueryResult, rows: list[str]) -> Page:
    return Page(rows, result.position, result.lag, result.cursor)


@contextmanager
def local_reader(known: Known, options: QueryOptions, *, in_memory: bool) -> Iterator[LocalReader]:
    """Yield a reader of a replica that lives as long as the query.

    Raises:
        CommandError: the options do not fit the store, or its changelog is missing.
        StoreNotReadyError: the replica did not catch up in time.
        PositionError: it did not reach the requested position in time.
    """
    info = known.stores([options.store])[0]
    check(options, info.kind)
    # Report an invalid key now, and not after the whole changelog has been read.
    serde = info.key.for_topic(info.topic, is_key=True, registry=known.registry)
    query_of(options, info.kind, serde, 1, None)
    with store_errors_out_of_log():
        replica = _opened(known, info, in_memory=in_memory)
        try:
            store = replica[options.store]
            _catch_up(replica, store, options.timeout)
            if options.position is not None:
                store.at_least(options.position, timedelta(seconds=options.timeout))
            yield LocalReader(store)
        finally:
            replica.close()


def _opened(known: Known, info: StoreInfo, *, in_memory: bool) -> Replica:
    if not in_memory:
        replica = make_replica(known, [info], NAME, None, in_memory=False)
        try:
            replica.start()
            return replica
        except (StateError, OSError) as error:
            # Another query uses the files, or this user may not write to them.
            console.detail(f"Reading the changelog into memory, because the files cannot be used: {error}")
    replica = make_replica(known, [info], NAME, None, in_memory=True)
    replica.start()
    return replica


def _catch_up(replica: Replica, store: AnyStore, timeout: float) -> None:
    """Wait until the replica has caught up with the changelog."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            store.wait(timedelta(seconds=_PATIENCE_SECONDS))
            return
        except StoreNotReadyError:
            status = replica.status()[0]
            if status.is_waiting:
                raise CommandError(
                    f"The store {store.name} has no rows yet: its topic {status.topic} does not exist.\n"
                    "Start the application, or say where its topics are with --topics-dir or "
                    "-c bootstrap.servers=..."
                ) from None
            if time.monotonic() >= deadline:
                found = f"{status.lag:,} records are still unread"
                if status.checked_at == _NEVER:
                    found = "its end is not known yet"
                raise StoreNotReadyError(
                    f"The topic {status.topic}, which holds the rows of {store.name}, was not read "
                    "to its end "
                    f"within {timeout:g} s: {(status.error or found).rstrip('.')}.\n"
                    "Wait longer with --timeout, and check that its topics can be reached."
                ) from None
