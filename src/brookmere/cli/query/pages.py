"""Turns questions into pages of rows: from a replica in this process, or from a server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from brookmere.cli.programs.applications import Known
from brookmere.cli.query.arguments import Question, check, query_of
from brookmere.cli.replica.local import make_replica, troubles_in_view
from brookmere.cli.terminal import console
from brookmere.errors import CommandError, StateError, StoreNotReadyError
from brookmere.state import AnyStore, CountQuery, Position, QueryResult, Replica, Row, StoreInfo, StoreKind
from brookmere.state.description.json_values import row_json

_PATIENCE_SECONDS = 0.1
_NEVER = -1
NAME = "query"
"""The replica whose files make the next question quick."""


@dataclass(frozen=True, slots=True)
class Page:
    """Rows as JSON, and how fresh they are."""

    rows: list[str]
    position: Position
    lag: int | None
    """None where it is not told."""
    cursor: str | None = None


class Asker(Protocol):
    """Answers questions about one store."""

    kind: StoreKind

    def page(self, asked: Question, limit: int, cursor: str | None) -> Page:
        """Return rows, at most `limit`."""

    def count(self, asked: Question) -> tuple[int, Page]:
        """Return how many rows there are, and a page without rows that tells how fresh this is."""


class LocalAsker:
    """Asks a replica in this process."""

    def __init__(self, store: AnyStore) -> None:
        self._store = store
        self.kind: StoreKind = store.info.kind

    def page(self, asked: Question, limit: int, cursor: str | None) -> Page:
        store = self._store
        result = store.query(query_of(asked, self.kind, store.key_serde, limit, cursor))
        rows = result.value if isinstance(result.value, list) else [result.value] if result.value else []
        return _page(result, [self._text(row) for row in rows])

    def count(self, asked: Question) -> tuple[int, Page]:  # noqa: ARG002 - a count has no options
        result = self._store.query(CountQuery())
        return result.value, _page(result, [])

    def _text(self, row: Row) -> str:
        return row_json(row, is_version=self.kind == "versioned").decode()


def _page(result: QueryResult, rows: list[str]) -> Page:
    return Page(rows, result.position, result.lag, result.cursor)


@contextmanager
def local_asker(known: Known, asked: Question, *, in_memory: bool) -> Iterator[LocalAsker]:
    """Give what answers from a replica that lives as long as the question.

    Raises:
        CommandError: the question does not fit the store, or its changelog is not there.
        StoreNotReadyError: the replica has not caught up in time.
        PositionError: it has not come as far as asked for in time.
    """
    info = known.stores([asked.store])[0]
    check(asked, info.kind)
    # A key that cannot be one is told at once, and not when everything has been read.
    serde = info.key.for_topic(info.topic, is_key=True, registry=known.registry)
    query_of(asked, info.kind, serde, 1, None)
    with troubles_in_view():
        replica = _opened(known, info, in_memory=in_memory)
        try:
            store = replica[asked.store]
            _catch_up(replica, store, asked.timeout)
            if asked.position is not None:
                store.at_least(asked.position, timedelta(seconds=asked.timeout))
            yield LocalAsker(store)
        finally:
            replica.close()


def _opened(known: Known, info: StoreInfo, *, in_memory: bool) -> Replica:
    if not in_memory:
        replica = make_replica(known, [info], NAME, None, in_memory=False)
        try:
            replica.start()
            return replica
        except (StateError, OSError) as error:
            # Somebody else asks at the same time, or may write here and this user may not.
            console.detail(f"The changelog is read into memory, as the files cannot be used: {error}")
    replica = make_replica(known, [info], NAME, None, in_memory=True)
    replica.start()
    return replica


def _catch_up(replica: Replica, store: AnyStore, timeout: float) -> None:
    """Wait until the replica has everything that is in the changelog."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            store.wait(timedelta(seconds=_PATIENCE_SECONDS))
            return
        except StoreNotReadyError:
            status = replica.status()[0]
            if status.is_waiting:
                raise CommandError(
                    f"The store {store.name} has no rows yet: its topic {status.topic} is not there.\n"
                    "Start the application, or say where its topics are: --topics-dir, or "
                    "-c bootstrap.servers=..."
                ) from None
            if time.monotonic() >= deadline:
                found = f"{status.lag:,} records are missing"
                if status.checked_at == _NEVER:
                    found = "nobody has told where it ends yet"
                raise StoreNotReadyError(
                    f"The topic {status.topic}, which has the rows of {store.name}, is not read to its end "
                    f"after {timeout:g} s: {(status.error or found).rstrip('.')}.\n"
                    "Wait longer with --timeout, and look whether its topics can be reached."
                ) from None
