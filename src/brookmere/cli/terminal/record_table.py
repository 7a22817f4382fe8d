"""A table of records whose rows are printed as they arrive."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from brookmere.cli.options.formats import guess
from brookmere.cli.options.parameters import shown_time
from brookmere.record import Header

_COLUMNS = ("PARTITION", "OFFSET", "TIME (UTC)", "KEY", "VALUE", "HEADERS")
_WIDEST = 40


class RecordTable:
    """Aligns cells: a column grows with its widest cell so far, up to a limit, and never shrinks."""

    def __init__(self) -> None:
        self._widths = [len(name) for name in _COLUMNS]
        self._has_title = False

    def lines(self, rows: Sequence[tuple[Any, ...]]) -> list[str]:
        """Return the lines for rows of (partition, offset, timestamp, key, value, headers), titles first."""
        cells = [self._cells(*row) for row in rows]
        if not cells:
            return []
        if not self._has_title:
            self._has_title = True
            cells.insert(0, _COLUMNS if any(row[5] for row in rows) else (*_COLUMNS[:5], ""))
        for place in range(len(_COLUMNS) - 1):
            longest = max(len(row[place]) for row in cells)
            self._widths[place] = max(self._widths[place], min(longest, _WIDEST))
        return [self._line(row) for row in cells]

    @staticmethod
    def _cells(
        partition: int, offset: int, timestamp: int, key: Any, value: Any, headers: Iterable[Header]
    ) -> tuple[str, ...]:
        shown = [f"{name}={as_text(None if data is None else guess(data))}" for name, data in headers]
        return (
            str(partition),
            str(offset),
            shown_time(timestamp),
            as_text(key),
            as_text(value),
            " ".join(shown),
        )

    def _line(self, cells: Sequence[str]) -> str:
        numbers = [cell.rjust(width) for cell, width in zip(cells[:2], self._widths[:2], strict=True)]
        texts = [cell.ljust(width) for cell, width in zip(cells[2:5], self._widths[2:5], strict=True)]
        return "  ".join([*numbers, *texts, cells[5]]).rstrip()


def as_text(value: Any, *, escape: bool = True) -> str:
    """Return a decoded key or value as text, in one line unless `escape` is false.

    >>> as_text("two\\nlines"), as_text(None), as_text({"a": 1})
    ('two\\\\nlines', 'null', '{"a": 1}')
    """
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if not escape or value.isprintable():
        return value
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in value)
