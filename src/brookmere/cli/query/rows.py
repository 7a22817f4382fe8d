"""Rows of a store as a table or as lines of JSON."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from brookmere.cli.options.parameters import shown_time
from brookmere.cli.terminal import console
from brookmere.cli.terminal.record_table import as_text
from brookmere.state import StoreKind

_TITLES: dict[StoreKind, tuple[str, ...]] = {
    "key_value": ("KEY", "VALUE", "TIME (UTC)"),
    "window": ("KEY", "START (UTC)", "END (UTC)", "VALUE", "TIME (UTC)"),
    "session": ("KEY", "START (UTC)", "END (UTC)", "VALUE", "TIME (UTC)"),
    "versioned": ("KEY", "VALUE", "SINCE (UTC)", "UNTIL (UTC)"),
}


def write_rows(kind: StoreKind, rows: list[str], *, as_table: bool) -> None:
    """Write rows, which are given as JSON, to stdout."""
    if not as_table:
        for row in rows:
            console.write(row)
        return
    found = [json.loads(row, parse_float=read_number) for row in rows]
    numbers = ("VALUE",) if found and all(_is_number(row["value"]) for row in found) else ()
    table = console.table(*_TITLES[kind], numbers=numbers)
    for row in found:
        table.add_row(*_cells(kind, row))
    console.write_table(table)


def read_number(text: str) -> float | Decimal:
    """Parse a JSON number so that it can be written with the same digits, which a float may not have.

    >>> read_number("12.50"), read_number("1e300")
    (Decimal('12.50'), 1e+300)
    """
    near, exact = float(text), Decimal(text)
    return near if "e" in text.lower() and Decimal(repr(near)) == exact else exact


def _cells(kind: StoreKind, row: dict[str, Any]) -> list[str]:
    key, value, time = row["key"], _shown(row["value"]), shown_time(row["timestamp"])
    if kind == "key_value":
        return [_shown(key), value, time]
    if kind == "versioned":
        return [_shown(key), value, time, "still" if row["until"] is None else shown_time(row["until"])]
    return [_shown(key["key"]), shown_time(key["start"]), shown_time(key["end"]), value, time]


def _shown(value: Any) -> str:
    return as_text(value) if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    """Return JSON with spaces, for reading, and with every digit of a Decimal."""
    match value:
        case dict():
            return f"{{{', '.join(f'{_json(name)}: {_json(member)}' for name, member in value.items())}}}"
        case list():
            return f"[{', '.join(map(_json, value))}]"
        case Decimal():
            return format(value, "f")
        case _:
            return json.dumps(value, ensure_ascii=False)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)
