"""Pages of rows as JSON, with the cursor of the next page."""

from __future__ import annotations

import zlib
from dataclasses import replace

from brookmere.serde import BadBytes
from brookmere.serde.json.any_json import json_of
from brookmere.serve.answers.problems import Problem
from brookmere.state import AnyStore, QueryResult
from brookmere.state.description.json_values import row_json
from brookmere.state.queries import Listing

_CHECK = 8


def read_page(store: AnyStore, query: Listing) -> tuple[bytes, QueryResult]:
    """Return the JSON of a page, and the query result behind it."""
    # A cursor is valid for its own query only, so it contains which query that is.
    check = f"{zlib.crc32(repr((store.name, replace(query, cursor=None, limit=None))).encode()):08x}"
    cursor = query.cursor
    if cursor is not None:
        if not cursor.startswith(check):
            raise _bad_cursor()
        query = replace(query, cursor=cursor[_CHECK:])
    try:
        result = store.query(query)
    except BadBytes as error:
        raise Problem(503, "failed", f"A row of the store {store.name!r} does not decode: {error}") from None
    except ValueError:
        if cursor is None:
            raise
        raise _bad_cursor() from None
    following = None if result.cursor is None else f"{check}{result.cursor}"
    is_version = store.info.kind == "versioned"
    rows = b",".join(
        row_json(row, store.key_serde, store.value_serde, is_version=is_version) for row in result.value
    )
    body = b'{"rows":[%b],"cursor":%b,"lag":%d,"checked_at":%d}'
    return body % (rows, json_of(following), result.lag, result.checked_at), result


def _bad_cursor() -> Problem:
    return Problem(
        400,
        "bad-cursor",
        "The cursor does not belong to this request. "
        "Omit it to start at the first page, or repeat the parameters of the request that returned it.",
    )
