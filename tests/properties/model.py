"""What aggregates mean, in plain Python: one record after the other, over dicts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from brookmere import Record
from brookmere.record import Header

Update = tuple[str, str | None, int]
"""Key, value and time of a row that changed."""
Written = tuple[str, str | None, int, tuple[Header, ...]]
"""What comes out: an update, with the headers of the record that caused it."""
Fold = Callable[[str, str], str | None]


@dataclass
class Folding:
    """A stream's aggregate. Without an initial value the first one is the aggregate."""

    fold: Fold
    initial: str | None = None
    rows: dict[str, tuple[str, int]] = field(default_factory=dict)

    def take(self, key: str | None, value: str | None, time: int) -> list[Update]:
        """Fold a value into the aggregate of its key."""
        if key is None or value is None:
            return []
        found = self.rows.get(key)
        before = found[0] if found else self.initial
        latest = max(time, found[1]) if found else time
        after = value if before is None else self.fold(before, value)
        return [_put(self.rows, key, after, latest)]


@dataclass
class Regrouping:
    """The aggregate of a table that is grouped anew by `group`; rows that do not pass `test` are none."""

    test: Callable[[str], bool]
    group: Callable[[str, str], str]
    add: Fold
    undo: Fold
    initial: str | None = None
    table: dict[str, str] = field(default_factory=dict)
    rows: dict[str, tuple[str, int]] = field(default_factory=dict)

    def take(self, key: str | None, value: str | None, time: int) -> list[Update]:
        """Replace the row of a key: take its old value out of the old group, put the new one into the new."""
        if key is None:
            return []
        old = self._passed(self.table.pop(key, None))
        if value is not None:
            self.table[key] = value
        new = self._passed(value)
        old_group = None if old is None else self.group(key, old)
        new_group = None if new is None else self.group(key, new)
        if old_group == new_group:
            return [] if new_group is None else [self._change(new_group, old, new, time)]
        updates = [] if old_group is None else [self._change(old_group, old, None, time)]
        return updates if new_group is None else [*updates, self._change(new_group, None, new, time)]

    def _passed(self, value: str | None) -> str | None:
        return value if value is not None and self.test(value) else None

    def _change(self, group: str, old: str | None, new: str | None, time: int) -> Update:
        found = self.rows.get(group)
        after: str | None = found[0] if found else None
        latest = max(time, found[1]) if found else time
        if old is not None and after is not None:
            after = self.undo(after, old)
        if new is not None:
            base = self.initial if after is None else after
            after = new if base is None else self.add(base, new)
        return _put(self.rows, group, after, latest)


def _put(rows: dict[str, tuple[str, int]], key: str, value: str | None, time: int) -> Update:
    if value is None:
        rows.pop(key, None)
    else:
        rows[key] = value, time
    return key, value, time


def written_by(model: Folding | Regrouping, records: list[Record]) -> list[Written]:
    """Return all that comes out for these records."""
    return [(*update, r.headers) for r in records for update in model.take(r.key, r.value, r.timestamp)]
