"""The parameters of requests: times, limits and positions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import BeforeValidator, WithJsonSchema

from brookmere.serve.answers.problems import Problem
from brookmere.state import Position

MOST_ROWS = 1000
_LAST_TIME = 2**63 - 1
_MS = 1000


def milliseconds(given: Any) -> int:
    """Return a time as milliseconds since 1970; raise ValueError if the text is not a time."""
    text = str(given).strip()
    if text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= _LAST_TIME:
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("expected milliseconds since 1970, or a time such as 2026-01-31T12:00:00Z") from None
    # A time without a zone is UTC: results must not depend on where the server runs.
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    found = int(aware.timestamp() * _MS)
    if found < 0:
        raise ValueError("expected a time that is not before 1970")
    return found


def position_from(text: str) -> Position:
    """Return the position that a request waits for."""
    try:
        return Position.from_json(text)
    except (ValueError, RecursionError):
        raise Problem(
            400,
            "bad-position",
            'at_least= is not a position. Pass JSON such as {"views":{"0":17}}, or the header '
            "Brookmere-Position of another response.",
        ) from None


_TIME_SCHEMA = {
    "anyOf": [
        {"type": "integer", "minimum": 0, "maximum": _LAST_TIME},
        {"type": "string", "format": "date-time"},
    ]
}
_Milliseconds = Annotated[int, BeforeValidator(milliseconds), WithJsonSchema(_TIME_SCHEMA)]

StoreName = Annotated[str, Path(description="The name of the store.")]
Key = Annotated[
    str,
    Path(
        description="The key: plain text, a number in digits, bytes as 0x and hexadecimal digits, else JSON."
    ),
]
Start = Annotated[_Milliseconds | None, Query(description="The earliest time, inclusive.")]
End = Annotated[_Milliseconds | None, Query(description="The latest time, inclusive.")]
AsOf = Annotated[
    _Milliseconds | None, Query(description="When the value was valid; only in versioned stores.")
]
Lower = Annotated[str | None, Query(description="The lowest key, inclusive, written as in a path.")]
Upper = Annotated[str | None, Query(description="The highest key, inclusive.")]
Prefix = Annotated[
    str | None,
    Query(description="The prefix of keys: text, or serialised bytes as 0x and hexadecimal digits."),
]
Reverse = Annotated[bool, Query(description="Return rows in descending order.")]
Limit = Annotated[int, Query(ge=1, le=MOST_ROWS, description="The maximum number of rows per page.")]
Cursor = Annotated[str | None, Query(description="The cursor of the previous page.")]
AtLeast = Annotated[
    str | None,
    Query(
        description='Respond only once this position is covered, such as {"views":{"0":17}}.',
        json_schema_extra={"contentMediaType": "application/json"},
    ),
]
Timeout = Annotated[
    float,
    Query(ge=0, le=60, description="How many seconds to wait for the position."),
]
Seconds = Annotated[
    float | None,
    Query(ge=0, le=86_400, description="End the stream after this many seconds; the default is never."),
]
