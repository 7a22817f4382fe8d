"""The options of `brookmere query`, as a query of a local store or the parameters of a request."""

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
    "key_value": "a key-value store",
    "window": "a window store",
    "session": "a session store",
    "versioned": "a versioned store",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryOptions:
    """The options as typed; `first` and `last` are keys in key-value stores, and times in the others."""

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
        """The position to wait for.

        Raises:
            CommandError: it is not a position.
        """
        if self.at_least is None:
            return None
        try:
            return Position.from_json(self.at_least)
        except ValueError as error:
            raise CommandError(
                f"--at-least {self.at_least!r} is not a position: {error}.\n"
                "Use the one that `brookmere -v query` prints, or a server's Brookmere-Position header."
            ) from error

    @property
    def is_one_row(self) -> bool:
        """Whether a store with one value per key can return at most one row."""
        return self.key is not None and self.first is None and self.last is None


def check(options: QueryOptions, kind: StoreKind) -> None:
    """Check that the options fit each other and the kind of the store.

    Raises:
        CommandError: they do not fit.
    """
    # Report an invalid position before anything is read.
    _ = options.position
    both = [
        ("KEY", options.key is not None, "--prefix", options.prefix is not None),
        ("KEY", options.key is not None, "--count", options.count),
        ("--count", options.count, "--limit", options.limit is not None),
        ("--prefix", options.prefix is not None, "--from", options.first is not None),
        ("--prefix", options.prefix is not None, "--to", options.last is not None),
        ("--as-of", options.as_of is not None, "--from", options.first is not None),
        ("--as-of", options.as_of is not None, "--to", options.last is not None),
    ]
    for one, has_one, other, has_other in both:
        if has_one and has_other:
            raise CommandError(f"{one} and {other} cannot be combined.\nGive only one of them.")
    given = {
        "--from": options.first is not None,
        "--to": options.last is not None,
        "--prefix": options.prefix is not None,
        "--as-of": options.as_of is not None,
    }
    known = _options(kind, has_key=options.key is not None, is_count=options.count)
    for option, is_given in given.items():
        if is_given and option not in known:
            how = " with a key" if options.key is not None else " without a key"
            fitting = f"Options that apply here: {', '.join(known)}." if known else "Omit it."
            raise CommandError(
                f"{option} does not apply: {options.store} is {_KIND_WORDS[kind]}, queried{how}.\n{fitting}"
            )


def _options(kind: StoreKind, *, has_key: bool, is_count: bool) -> tuple[str, ...]:
    if is_count:
        return ()
    if kind == "key_value":
        return () if has_key else ("--from", "--to", "--prefix")
    if kind == "versioned":
        return ("--as-of", "--from", "--to") if has_key else ()
    return ("--from", "--to")


def query_of(options: QueryOptions, kind: StoreKind, serde: Serde, limit: int, cursor: str | None) -> Query:
    """Return the query for a page of rows, or for a single row.

    Raises:
        CommandError: a key or a time cannot be parsed.
    """
    page: dict[str, Any] = {"reverse": options.reverse, "limit": limit, "cursor": cursor}
    if kind == "key_value":
        return _by_key(options, serde, page)
    key = None if options.key is None else _key(serde, options.key)
    start, end, as_of = (_time(text) for text in (options.first, options.last, options.as_of))
    if kind == "versioned":
        if key is None:
            return VersionedRangeQuery(**page)
        if options.is_one_row:
            return VersionedKeyQuery(key, as_of)
        return MultiVersionedKeyQuery(key, start, end, **page)
    if kind == "window":
        return (
            WindowRangeQuery(start, end, **page) if key is None else WindowKeyQuery(key, start, end, **page)
        )
    return SessionRangeQuery(start, end, **page) if key is None else SessionKeyQuery(key, start, end, **page)


def _by_key(options: QueryOptions, serde: Serde, page: Mapping[str, Any]) -> Query:
    if options.key is not None:
        return KeyQuery(_key(serde, options.key))
    if options.prefix is not None:
        try:
            return RangeQuery(prefix=serde.prefix_from_text(options.prefix), **page)
        except ValueError as error:
            raise _sentence(error) from error
    lower, upper = (None if text is None else _key(serde, text) for text in (options.first, options.last))
    return RangeQuery(lower, upper, **page)


def parameters_of(options: QueryOptions, kind: StoreKind, limit: int, cursor: str | None) -> dict[str, str]:
    """Return the request parameters for a page of rows, or for a single row."""
    lower, upper = ("lower", "upper") if kind == "key_value" else ("start", "end")
    first, last = options.first, options.last
    if kind != "key_value":
        first, last = (None if text is None else str(read_time(text)) for text in (first, last))
    found = {
        lower: first,
        upper: last,
        "prefix": options.prefix,
        "as_of": None if options.as_of is None else str(read_time(options.as_of)),
        "at_least": options.at_least,
        "timeout": None if options.at_least is None else str(min(options.timeout, _LONGEST_WAIT)),
    }
    if options.key is None or kind in ("window", "session") or not options.is_one_row:
        found |= {"limit": str(limit), "cursor": cursor, "reverse": "true" if options.reverse else None}
    return {name: text for name, text in found.items() if text is not None}


_LONGEST_WAIT = 60.0
"""The longest time a server waits for a position, in seconds."""


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
