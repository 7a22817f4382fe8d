"""Pages of rows, and the cursors between them."""

from __future__ import annotations

from base64 import b64decode, urlsafe_b64encode
from collections.abc import Iterator
from itertools import islice

from brookmere.state.queries import Row
from brookmere.state.rows.layout import TIME


def page_of(rows: Iterator[tuple[bytes, Row]], limit: int | None) -> tuple[list[Row], str | None]:
    """Return at most `limit` of the rows, given with their places, and the cursor of the next page."""
    if limit is None:
        return [row for _, row in rows], None
    if limit < 1:
        raise ValueError(f"limit must be at least 1, found {limit}")
    page = list(islice(rows, limit + 1))
    if len(page) <= limit:
        return [row for _, row in page], None
    return [row for _, row in page[:limit]], urlsafe_b64encode(page[limit - 1][0]).decode().rstrip("=")


def place_of(cursor: str | None) -> bytes | None:
    """Return the place after which a page starts; raise ValueError for an invalid cursor."""
    if cursor is None:
        return None
    try:
        place = b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4), b"-_", validate=True)
    except ValueError:
        place = b""
    # The shortest place is an empty key and its suffix.
    if len(place) < TIME // 2:
        raise ValueError(f"{cursor!r} is not the cursor of a page")
    return place
