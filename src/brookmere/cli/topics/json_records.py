"""Records as lines of JSON, which `consume` writes and `produce` reads."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from brookmere.cli.options.formats import Format, guess, written_format
from brookmere.cli.options.parameters import read_time, shown_time
from brookmere.record import Header, Record

_TEXT = written_format("text")
_GIVEN = {"key", "value", "timestamp", "headers", "partition"}
# The output of `consume --format json` can be produced again; these fields are then assigned again.
_IGNORED = {"topic", "offset", "time"}


def record_of_json(
    line: bytes | str, key_serde: Format, value_serde: Format, timestamp: int | None, partition: int | None
) -> Record:
    """Return the record that a line describes, or one with the line's JSON as its value.

    A line is a record if it is an object with a key or a value and no fields other than those of a record.
    The time and partition of the command line apply unless the line has its own.
    """
    found = json.loads(line)
    is_record = (
        isinstance(found, dict) and found.keys() <= _GIVEN | _IGNORED and {"key", "value"} & found.keys()
    )
    given: dict[str, Any] = found if is_record else {"value": found}
    time = given.get("timestamp", timestamp)
    place = given.get("partition", partition)
    if place is not None and (isinstance(place, bool) or not isinstance(place, int)):
        raise ValueError(f"its partition is not a number: {place!r}")
    return Record(
        key=_encoded(given.get("key"), key_serde),
        value=_encoded(given.get("value"), value_serde),
        timestamp=-1 if time is None else read_time(str(time)),
        headers=tuple(_headers(given.get("headers"))),
        partition=place,
    )


def json_of_record(record: Record, *, key: Any, value: Any) -> str:
    """Return the line of JSON for a record of a topic, with its decoded key and value."""
    fields: dict[str, Any] = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
        "time": shown_time(record.timestamp),
        "key": key,
        "value": value,
    }
    if record.headers:
        names = [name for name, _ in record.headers]
        shown = [(name, None if data is None else guess(data)) for name, data in record.headers]
        fields["headers"] = dict(shown) if len(set(names)) == len(names) else shown
    return json.dumps(fields, ensure_ascii=False)


def _headers(given: Any) -> Iterable[Header]:
    if given is None:
        return
    pairs = given.items() if isinstance(given, dict) else given
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2 or not isinstance(pair[0], str):
            raise ValueError(
                f'its headers are neither {{"name": "value"}} nor [["name", "value"]]: {given!r}'
            )
        yield pair[0], _encoded(pair[1], _TEXT)


def _encoded(value: Any, format: Format) -> bytes | None:
    return None if value is None else format.encode_json(value)
