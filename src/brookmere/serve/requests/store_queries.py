"""The query for a request, by the kind of its store."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from brookmere.serve.answers.problems import Problem
from brookmere.serve.requests.keys import key_from_text, prefix_from_text
from brookmere.state import (
    AnyStore,
    KeyQuery,
    MultiVersionedKeyQuery,
    RangeQuery,
    SessionKeyQuery,
    SessionRangeQuery,
    VersionedKeyQuery,
    VersionedRangeQuery,
    WindowKeyQuery,
    WindowRangeQuery,
)
from brookmere.state.queries import Listing

PAGING = ("reverse", "limit", "cursor")
ROWS_PARAMETERS: dict[str, tuple[str, ...]] = {
    "key_value": ("lower", "upper", "prefix", *PAGING),
    "window": ("start", "end", *PAGING),
    "session": ("start", "end", *PAGING),
    "versioned": PAGING,
}
"""By kind of store, the parameters of a query for rows."""
KEY_PARAMETERS: dict[str, tuple[str, ...]] = {
    "key_value": (),
    "window": ("start", "end", *PAGING),
    "session": ("start", "end", *PAGING),
    "versioned": ("as_of", "start", "end", *PAGING),
}
"""By kind of store, the parameters of a query for a key."""


@dataclass(frozen=True, slots=True)
class RowsQuestion:
    """The parameters of a request for rows."""

    lower: str | None = None
    upper: str | None = None
    prefix: str | None = None
    start: int | None = None
    end: int | None = None
    reverse: bool = False
    limit: int = 100
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class KeyQuestion:
    """The parameters of a request for a key."""

    key: str
    start: int | None = None
    end: int | None = None
    as_of: int | None = None
    reverse: bool = False
    limit: int = 100
    cursor: str | None = None


def rows_query(store: AnyStore, asked: RowsQuestion) -> Listing:
    """Return the query for the rows of a store."""
    kind = store.info.kind
    _check(store, asked, ROWS_PARAMETERS[kind])
    paging: dict[str, Any] = {"reverse": asked.reverse, "limit": asked.limit, "cursor": asked.cursor}
    match kind:
        case "window":
            return WindowRangeQuery(asked.start, asked.end, **paging)
        case "session":
            return SessionRangeQuery(asked.start, asked.end, **paging)
        case "versioned":
            return VersionedRangeQuery(**paging)
    if asked.prefix is not None:
        if asked.lower is not None or asked.upper is not None:
            detail = "Use prefix=, or lower= and upper=, not both."
            raise Problem(422, "invalid-request", detail)
        return RangeQuery(prefix=prefix_from_text(store.key_serde, asked.prefix), **paging)
    lower, upper = (
        None if text is None else key_from_text(store.key_serde, text) for text in (asked.lower, asked.upper)
    )
    return RangeQuery(lower, upper, **paging)


def key_query(store: AnyStore, asked: KeyQuestion) -> Any:
    """Return the query for a key of a store."""
    kind = store.info.kind
    _check(store, asked, ("key", *KEY_PARAMETERS[kind]))
    key = key_from_text(store.key_serde, asked.key)
    paging: dict[str, Any] = {"reverse": asked.reverse, "limit": asked.limit, "cursor": asked.cursor}
    match kind:
        case "window":
            return WindowKeyQuery(key, asked.start, asked.end, **paging)
        case "session":
            return SessionKeyQuery(key, asked.start, asked.end, **paging)
        case "versioned" if asked.start is not None or asked.end is not None or asked.cursor is not None:
            if asked.as_of is not None:
                detail = "Use as_of=, or start= and end=, not both."
                raise Problem(422, "invalid-request", detail)
            return MultiVersionedKeyQuery(key, asked.start, asked.end, **paging)
        case "versioned":
            return VersionedKeyQuery(key, asked.as_of)
        case _:
            return KeyQuery(key)


def _check(store: AnyStore, asked: RowsQuestion | KeyQuestion, known: tuple[str, ...]) -> None:
    for member in fields(asked):
        given = getattr(asked, member.name)
        if member.name not in known and given != member.default:
            fitting = ", ".join(f"{name}=" for name in known if name != "key") or "no parameters"
            raise Problem(
                400,
                "wrong-kind",
                f"{member.name}= does not apply: {store.name!r} is {store.kind_words}. Use {fitting}.",
            )
