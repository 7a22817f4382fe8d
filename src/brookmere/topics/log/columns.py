"""Records as columns of bytes, and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from brookmere.errors import TopicError
from brookmere.record import Header, Record
from brookmere.topics.log.segment import CONTENT_SCHEMA, HEADERS, TIMESTAMP

_BYTES = ({bytes, type(None)}, (bytes, bytearray, memoryview, type(None)))


def content_of(records: Sequence[Record], now: int) -> pa.RecordBatch:
    """Return timestamp, key, value and headers of records; records without a timestamp get `now`."""
    keys = [record.key for record in records]
    values = [record.value for record in records]
    _check_bytes("key", keys)
    _check_bytes("value", values)
    times = [record.timestamp for record in records]
    if None in times or -1 in times:
        times = [now if time is None or time == -1 else time for time in times]
    headers = [record.headers or None for record in records]
    columns = [
        _times(times),
        pa.array(keys, pa.binary()),
        pa.array(values, pa.binary()),
        _headers(headers),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=CONTENT_SCHEMA)


def content_from(data: pa.RecordBatch, now: int) -> pa.RecordBatch:
    """Return a user's batch in the layout of a segment, without offsets."""
    unknown = set(data.schema.names) - set(CONTENT_SCHEMA.names)
    if unknown or "value" not in data.schema.names:
        raise TypeError(
            f"append_batch takes the columns timestamp, key, value and headers, found {data.schema.names}; "
            "use these names and remove other columns"
        )
    columns = []
    for field in CONTENT_SCHEMA:
        if field.name in data.schema.names:
            columns.append(_cast(field, data.column(field.name), now))
        elif field.name == "timestamp":
            columns.append(pa.repeat(pa.scalar(now, pa.int64()), data.num_rows).cast(TIMESTAMP))
        else:
            columns.append(pa.nulls(data.num_rows, field.type))
    return pa.RecordBatch.from_arrays(columns, schema=CONTENT_SCHEMA)


def stamped(content: pa.RecordBatch, time: int) -> pa.RecordBatch:
    """Set the same timestamp on all records."""
    times = pa.repeat(pa.scalar(time, pa.int64()), content.num_rows).cast(TIMESTAMP)
    return pa.RecordBatch.from_arrays([times, *content.columns[1:]], schema=CONTENT_SCHEMA)


def records_of(batch: pa.RecordBatch, topic: str, partition: int) -> Iterator[Record]:
    """Return the records of a batch that has offsets."""
    offsets, times, keys, values, headers = batch.columns
    return map(
        Record,
        keys.to_pylist(),
        values.to_pylist(),
        times.cast(pa.int64()).to_pylist(),
        _header_tuples(headers),
        repeat(topic),
        repeat(partition),
        offsets.to_pylist(),
    )


def sizes_of(content: pa.RecordBatch) -> pa.Array:
    """Return the size of each record in bytes: key, value and headers together."""
    lengths = [
        pc.binary_length(content.column(name)).fill_null(0).cast(pa.int64()) for name in ("key", "value")
    ]
    size = pc.add(*lengths)
    headers = content.column("headers")
    if headers.null_count == len(headers):
        return size
    extra = [
        sum(len(header["key"].encode()) + len(header["value"] or b"") for header in each or ())
        for each in headers.to_pylist()
    ]
    return pc.add(size, pa.array(extra, pa.int64()))


def _check_bytes(what: str, column: list[Any]) -> None:
    quick, accepted = _BYTES
    if set(map(type, column)) <= quick:
        return
    for found in column:
        if not isinstance(found, accepted):
            raise TypeError(
                f"A topic takes the {what} of a record as bytes, found {type(found).__name__} {found!r:.80}; "
                f"use a producer with a serde, as in topics.producer(name, {what}=bm.Text())"
            )


def _times(times: list[int]) -> pa.Array:
    try:
        column = pa.array(times, pa.int64())
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        raise TypeError(f"A timestamp is an integer, in milliseconds since 1970: {error}") from error
    if len(times) and pc.min(column).as_py() < 0:
        raise ValueError(
            f"A timestamp cannot be negative, found {pc.min(column)}; use milliseconds since 1970 (UTC), "
            "or -1 for the current time"
        )
    return column.cast(TIMESTAMP)


def _headers(headers: list[tuple[Header, ...] | None]) -> pa.Array:
    if not any(headers):
        return pa.nulls(len(headers), HEADERS)
    lists = [None if each is None else list(map(_header, each)) for each in headers]
    return pa.array(lists, HEADERS)


def _header(header: Header) -> dict[str, Any]:
    name, value = header
    if not isinstance(name, str) or not isinstance(value, bytes | None):
        raise TypeError(f"A header is a name and bytes or None, found {header!r}; encode its value first")
    return {"key": name, "value": value}


def _header_tuples(headers: pa.Array) -> Iterator[tuple[Header, ...]]:
    if headers.null_count == len(headers):
        return repeat(())
    return (tuple((one["key"], one["value"]) for one in each or ()) for each in headers.to_pylist())


def _cast(field: pa.Field, column: pa.Array, now: int) -> pa.Array:
    try:
        if field.name == "timestamp":
            return _cast_times(column, now)
        return column.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise TypeError(
            f"The column {field.name} of append_batch is {column.type}: it must be {field.type}, "
            f"or a type that can be cast to it ({error})"
        ) from error


def _cast_times(column: pa.Array, now: int) -> pa.Array:
    times = column if pa.types.is_integer(column.type) else column.cast(TIMESTAMP)
    times = times.cast(pa.int64()).fill_null(now)
    times = pc.if_else(pc.equal(times, -1), now, times)
    if len(times) and pc.min(times).as_py() < 0:
        raise TopicError("A timestamp cannot be negative; use milliseconds since 1970, or null for now.")
    return times.cast(TIMESTAMP)
