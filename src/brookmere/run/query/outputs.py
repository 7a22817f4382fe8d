"""Reads the output of a batch from the kernel's bytes: records, failures and taps."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from brookmere.errors import (
    DeserializationError,
    ProcessingError,
    ProductionError,
    RecordError,
    TimestampError,
)
from brookmere.record import Header

_ERROR_NODE = -1
_PLACE = struct.Struct(">iiqiqqq")
_INT = struct.Struct(">i")
_LONG = struct.Struct(">q")
_ERRORS: dict[str, type[RecordError]] = {
    "deserialization": DeserializationError,
    "processing": ProcessingError,
    "production": ProductionError,
    "timestamp": TimestampError,
}

_NOISE = (
    re.compile(r"^\[USER_RAISED_EXCEPTION\] "),
    re.compile(r"\s*SQLSTATE: \w{5}\b.*", re.DOTALL),
    re.compile(r"\s*Parse Mode: FAILFAST\. To process malformed records as null result, .*?'PERMISSIVE'\."),
    re.compile(r"\s*\bat \[Source: [^\]]*\]"),
)


@dataclass(frozen=True, slots=True)
class Written:
    """A record that left the last stage: for a sink, or for a tap."""

    node: int
    task: int
    topic: str | None
    """Only if the record itself names it."""
    key: bytes | None
    value: bytes | None
    timestamp: int
    headers: tuple[Header, ...]


def read_outputs(data: bytes) -> Iterator[Written | RecordError]:
    """Yield the output of a batch, in order of arrival."""
    reader = _Reader(data)
    while reader.position < len(data):
        node, task, _clock, _source, _seq, _step, ts = reader.place()
        if node == _ERROR_NODE:
            yield _error(reader, task)
        else:
            topic = reader.text()
            key, value = reader.field(), reader.field()
            headers = tuple((reader.text() or "", reader.field()) for _ in range(reader.integer()))
            yield Written(node, task, topic, key, value, ts, headers)


def record_error(
    stage: str,
    *,
    node: str,
    task: int,
    topic: str,
    partition: int,
    offset: int,
    reason: str,
    message: str,
    trace: str,
    key: bytes | None,
    value: bytes | None,
) -> RecordError:
    """Return the error of the handler `stage`: deserialization, processing or production."""
    return _ERRORS[stage](
        plain_words(message),
        reason=reason,
        node=node,
        task=task,
        topic=topic,
        partition=partition,
        offset=offset,
        key=key,
        value=value,
        trace=trace,
    )


def plain_words(message: str) -> str:
    """Return the message of a JVM exception without its hints about SQL."""
    for noise in _NOISE:
        message = noise.sub("", message)
    return message.strip()


def _error(reader: _Reader, task: int) -> RecordError:
    stage, node, topic, reason, message, trace = (reader.text() or "" for _ in range(6))
    partition, offset = reader.integer(), reader.long()
    return record_error(
        stage,
        node=node,
        task=task,
        topic=topic,
        partition=partition,
        offset=offset,
        reason=reason,
        message=message,
        trace=trace,
        key=reader.field(),
        value=reader.field(),
    )


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self.position = 0

    def place(self) -> tuple[int, ...]:
        values = _PLACE.unpack_from(self._data, self.position)
        self.position += _PLACE.size
        return values

    def integer(self) -> int:
        (value,) = _INT.unpack_from(self._data, self.position)
        self.position += _INT.size
        return int(value)

    def long(self) -> int:
        (value,) = _LONG.unpack_from(self._data, self.position)
        self.position += _LONG.size
        return int(value)

    def field(self) -> bytes | None:
        length = self.integer()
        if length < 0:
            return None
        start = self.position
        self.position += length
        return self._data[start : self.position]

    def text(self) -> str | None:
        data = self.field()
        return None if data is None else data.decode()
