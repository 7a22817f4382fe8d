"""Turns the versions of a table with history into what its keys are now, or were at a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from brookmere.testing.engines import StoreRow


def latest(versions: Iterable[StoreRow]) -> list[StoreRow]:
    """Return the last version of each key that is there; a version without value is a deletion."""
    last: dict[str, StoreRow] = {}
    for row in sorted(versions, key=lambda row: row[2]):
        last[repr(row[0])] = row
    return [row for row in last.values() if row[1] is not None]


def as_of(versions: list[StoreRow], history_ms: int, key: Any, time: int) -> tuple[Any, int] | None:
    """Return value and time of the version that `key` had at `time`, or None.

    Further back than the history reaches, only a version is found that is still the latest.
    """
    now = max((row[2] for row in versions), default=0)
    own = latest(versions) if time < now - history_ms else versions
    found = [row for row in own if row[0] == key and row[2] <= time]
    if not found:
        return None
    _, value, since = max(found, key=lambda row: row[2])
    return None if value is None else (value, since)
