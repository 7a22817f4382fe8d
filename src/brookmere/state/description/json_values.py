"""Rows of stores as JSON: their serdes know how keys and values are shown."""

from __future__ import annotations

from typing import Any

from brookmere.record import WindowedKey
from brookmere.serde import Serde, Windowed
from brookmere.serde.json.any_json import json_of
from brookmere.state.queries import Row


def row_json(row: Row, key: Serde, value: Serde, *, is_version: bool) -> bytes:
    """Return a row as a JSON object of key, value and timestamp; a version has `until`, too."""
    content = {**shown(key, value, row.key, row.value), "timestamp": row.timestamp}
    return json_of({**content, "until": row.until} if is_version else content)


def shown(key_serde: Serde, value_serde: Serde, key: Any, value: Any) -> dict[str, Any]:
    """Return a key and a value as JSON shows them; `key_serde` is that of keys without windows."""
    return {"key": shown_key(key_serde, key), "value": shown_value(value_serde, value)}


def shown_key(serde: Serde, key: Any) -> Any:
    """Return a key, which may have a window, as JSON shows it."""
    if isinstance(key, WindowedKey) and not isinstance(serde, Windowed):
        inner = serde.json_value(key.key)
        return key if inner is key.key else {"key": inner, "start": key.start, "end": key.end}
    return serde.json_value(key)


def shown_value(serde: Serde, value: Any) -> Any:
    """Return a value as JSON shows it."""
    return None if value is None else serde.json_value(value)
