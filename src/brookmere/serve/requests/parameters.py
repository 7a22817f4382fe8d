"""Says which parameters requests have, and turns their text into times, limits and positions."""

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
    """Return a time as milliseconds since 1970; raise ValueError where it is none."""
    text = str(given).strip()
    if text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= _LAST_TIME:
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("expected milliseconds since 1970, or a time such as 2026-01-31T12:00:00Z") from None
    # A time without a zone is taken as UTC: where the server stands must not change an answer.
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    found = int(aware.timestamp() * _MS)
    if found < 0:
        raise ValueError("expected a time that is not before 1970")
    return found


def position_from(text: str) -> Position:
    """Return the position that a request asks for."""
    try:
        return Position.from_json(text)
    except (ValueError, RecursionError):
        raise Problem(
            400,
            "bad-position",
            'at_least= is no position. Give JSON such as {"views":{"0":17}}, or what the header '
            "Brookmere-Position of another answer says.",
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
        description="The key: text as it is, a number in digits, bytes in hexadecimal behind 0x, else JSON."
    ),
]
Start = Annotated[_Milliseconds | None, Query(description="The first time that counts.")]
End = Annotated[_Milliseconds | None, Query(description="The last time that counts.")]
AsOf = Annotated[
    _Milliseconds | None, Query(description="When the value was valid; only in versioned stores.")
]
Lower = Annotated[str | None, Query(description="The first key, written as in a path.")]
Upper = Annotated[str | None, Query(description="The last key, which is included.")]
Prefix = Annotated[
    str | None,
    Query(description="What keys begin with: text, or bytes of the serialised key in hexadecimal behind 0x."),
]
Reverse = Annotated[bool, Query(description="From the last to the first.")]
Limit = Annotated[int, Query(ge=1, le=MOST_ROWS, description="How many rows a page has at most.")]
Cursor = Annotated[str | None, Query(description="Where the page begins: the cursor of the page before.")]
AtLeast = Annotated[
    str | None,
    Query(
        description='Answer only when everything up to this position is known, such as {"views":{"0":17}}.',
        json_schema_extra={"contentMediaType": "application/json"},
    ),
]
Timeout = Annotated[
    float,
    Query(ge=0, le=60, description="How many seconds to wait for that position."),
]
Seconds = Annotated[
    float | None, Query(ge=0, le=86_400, description="End the stream after so many seconds; else it goes on.")
]
