"""Turns the joins and the versioned tables of a scenario into calls of the DSL."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import brookmere as bm
from tests.conformance import words

Entry = Mapping[str, Any]


def join(left: Any, right: Any, entry: Entry) -> Any:
    """Join two handles as the entry says; what it means depends on their kinds."""
    windowed = isinstance(left._key, bm.Windowed)
    options: dict[str, Any] = {"how": entry["type"]}
    options |= {field: entry[field] for field in ("name", "store") if field in entry}
    if isinstance(right, bm.KStream):
        options["windows"] = _windows(entry)
    elif isinstance(right, bm.GlobalKTable):
        key = words.function(entry["fn"])
        options["key"] = (lambda k, v: key(words.windowed_text(k), v)) if windowed else key
    elif "fk" in entry:
        options["foreign_key"] = _foreign_key(entry)
    elif "grace" in entry:
        options["grace"] = timedelta(milliseconds=entry["grace"])
    joiner = words.joiner(entry.get("joiner", "slash"))
    if windowed:
        return left.join(right, lambda k, one, other: joiner(words.windowed_text(k), one, other), **options)
    return left.join(right, joiner, **options)


def _windows(entry: Entry) -> bm.JoinWindows:
    return bm.JoinWindows(
        before=timedelta(milliseconds=entry["before"]),
        after=timedelta(milliseconds=entry["after"]),
        grace=timedelta(milliseconds=entry.get("grace", 0)),
    )


def history(entry: Entry) -> dict[str, Any]:
    """Return the option of a table that keeps versions."""
    return {"history": timedelta(milliseconds=entry["versioned"])} if "versioned" in entry else {}


def _foreign_key(entry: Entry) -> Any:
    function = words.function(entry["fk"])
    if entry.get("fk_sees_key", False):
        return function
    return lambda value: function(words.nothing(), value)
