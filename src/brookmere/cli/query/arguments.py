"""Turns the options of `query` into a question: a query of a store, or the parameters of a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brookmere.cli.options.parameters import read_time
from brookmere.errors import CommandError
from brookmere.serde import Serde
from brookmere.state import (
    KeyQuery,
    MultiVersionedKeyQuery,
    Position,
    Query,
    RangeQuery,
    SessionKeyQuery,
    SessionRangeQuery,
    StoreKind,
    VersionedKeyQuery,
    VersionedRangeQuery,
    WindowKeyQuery,
    WindowRangeQuery,
)
from brookmere.state.description.key_text import key_from_text

_KIND_WORDS = {
    "key_value": "a store of keys and values",
    "window": "a store of windows",
    "session": "a store of sessions",
    "versioned": "a store of versions",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What was typed; `first` and `last` are keys in stores of keys, and times in the others."""

    store: str
    key: str | None = None
    first: str | None = None
    last: str | None = None
    as_of: str | None = None
    prefix: str | None = None
    reverse: bool = False
    limit: int | None = None
    count: bool = False
    at_least: str | None = None
    """A position, as JSON."""
    timeout: float = 60.0

    @property
    def position(self) -> Position | None:
        """What to wait for.

        Raises:
            CommandError: this is no position.
        """
        if self.at_least is None:
            return None
        try:
            return Position.from_json(self.at_least)
        except ValueError as error:
            raise CommandError(
                f"--at-least {self.at_least!r} is no position: {error}.\n"
                "Take the one that `brookmere -v query` tells, or the header Brookmere-Position of a server."
            ) from error

    @property
    def is_one_row(self) -> bool:
        """Whether at most one row can come of a store that has one value for each key."""
        return self.key is not None and self.first is None and self.last is None


def check(asked: Question, kind: StoreKind) -> None:
    """Refuse options that do not fit each other or the kind of the store.

    Raises:
        CommandError: they do not fit.
    """
    # A position that is none is told before anything is read.
    _ = asked.position
    both = [
        ("KEY", asked.key is not None, "--prefix", asked.prefix is not None),
        ("KEY", asked.key is not None, "--count", asked.count),
        ("--count", asked.count, "--limit", asked.limit is not None),
        ("--prefix", asked.prefix is not None, "--from", asked.first is not None),
        ("--prefix", asked.prefix is not None, "--to", asked.last is not None),
        ("--as-of", asked.as_of is not None, "--from", asked.first is not None),
        ("--as-of", asked.as_of is not None, "--to", asked.last is not None),
    ]
    for one, has_one, other, has_other in both:
        if has_one and has_other:
            raise CommandError(f"{one} and {other} do not go together.\nGive one of them.")
    given = {
        "--from": asked.first is not None,
        "--to": asked.last is not None,
        "--prefix": asked.prefix is not None,
        "--as-of": asked.as_of is not None,
    }
    known = _options(kind, has_key=asked.key is not None, is_count=asked.count)
    for option, is_given in given.items():
        if is_given and option not in known:
            how = " with a key" if asked.key is not None else " without a key"
            fitting = f"Possible here: {', '.join(known)}." if known else "Leave it out."
            raise CommandError(
                f"{option} does not fit: {asked.store} is {_KIND_WORDS[kind]}, asked{how}.\n{fitting}"
            )


def _options(kind: StoreKind, *, has_key: bool, is_count: bool) -> tuple[str, ...]:
    if is_count:
        return ()
    if kind == "key_value":
        return () if has_key else ("--from", "--to", "--prefix")
    if kind == "versioned":
        return ("--as-of", "--from", "--to") if has_key else ()
    return ("--from", "--to")


def query_of(asked: Question, kind: StoreKind, serde: Serde, limit: int, cursor: str | None) -> Query:
    """Return the query for a page of rows, or for the one row that there can be.

    Raises:
        CommandError: a key or a time cannot be read.
    """
    page: dict[str, Any] = {"reverse": asked.reverse, "limit": limit, "cursor": cursor}
    if kind == "key_value":
        return _by_key(asked, serde, page)
    key = None if asked.key is None else _key(serde, asked.key)
    start, end, as_of = (_time(text) for text in (asked.first, asked.last, asked.as_of))
    if kind == "versioned":
        if key is None:
            return VersionedRangeQuery(**page)
        if asked.is_one_row:
            return VersionedKeyQuery(key, as_of)
        return MultiVersionedKeyQuery(key, start, end, **page)
    if kind == "window":
        return (
            WindowRangeQuery(start, end, **page) if key is None else WindowKeyQuery(key, start, end, **page)
        )
    return SessionRangeQuery(start, end, **page) if key is None else SessionKeyQuery(key, start, end, **page)


def _by_key(asked: Question, serde: Serde, page: Mapping[str, Any]) -> Query:
    if asked.key is not None:
        return KeyQuery(_key(serde, asked.key))
    if asked.prefix is not None:
        try:
            return RangeQuery(prefix=serde.prefix_from_text(asked.prefix), **page)
        except ValueError as error:
            raise _sentence(error) from error
    lower, upper = (None if text is None else _key(serde, text) for text in (asked.first, asked.last))
    return RangeQuery(lower, upper, **page)


def parameters_of(asked: Question, kind: StoreKind, limit: int, cursor: str | None) -> dict[str, str]:
    """Return the parameters of a request for a page of rows, or for one row."""
    lower, upper = ("lower", "upper") if kind == "key_value" else ("start", "end")
    first, last = asked.first, asked.last
    if kind != "key_value":
        first, last = (None if text is None else str(read_time(text)) for text in (first, last))
    found = {
        lower: first,
        upper: last,
        "prefix": asked.prefix,
        "as_of": None if asked.as_of is None else str(read_time(asked.as_of)),
        "at_least": asked.at_least,
        "timeout": None if asked.at_least is None else str(min(asked.timeout, _LONGEST_WAIT)),
    }
    if asked.key is None or kind in ("window", "session") or not asked.is_one_row:
        found |= {"limit": str(limit), "cursor": cursor, "reverse": "true" if asked.reverse else None}
    return {name: text for name, text in found.items() if text is not None}


_LONGEST_WAIT = 60.0
"""How long a server waits for a position at most, in seconds."""


def _time(text: str | None) -> int | None:
    return None if text is None else read_time(text)


def _key(serde: Serde, text: str) -> Any:
    try:
        return key_from_text(serde, text)
    except ValueError as error:
        raise _sentence(error) from error


def _sentence(error: ValueError) -> CommandError:
    words = str(error)
    return CommandError(f"{words[:1].upper()}{words[1:].rstrip('.')}.")
