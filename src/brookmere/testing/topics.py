"""Input and output topics of the test driver."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from brookmere.durations import Duration, to_timedelta
from brookmere.record import Header, Record
from brookmere.serde import Serde
from brookmere.topics.times import milliseconds

Headers = Mapping[str, bytes] | Sequence[Header]
Pipe = Callable[[Sequence[tuple[str, Record]]], None]


class InputTopic:
    """Pipes records to a topic. Each record gets the topic's time, which then advances by a fixed step."""

    def __init__(self, name: str, pipe: Pipe, *, start_time: int, advance: Duration) -> None:
        self.name = name
        self._pipe = pipe
        self._time = start_time
        self._advance = to_timedelta(advance) // timedelta(milliseconds=1)

    def pipe_input(
        self,
        *record: Any,
        timestamp: int | datetime | None = None,
        headers: Headers = (),
        partition: int | None = None,
    ) -> None:
        """Pipe a value, or a key and a value."""
        if len(record) not in (1, 2):
            raise TypeError(f"pipe_input takes a value, or a key and a value; found {len(record)} arguments")
        key, value = record if len(record) == 2 else (None, record[0])
        self._pipe([(self.name, self._record(key, value, timestamp, headers, partition))])

    def pipe_values(self, values: Iterable[Any]) -> None:
        """Pipe values without keys, one after the other."""
        for value in values:
            self.pipe_input(value)

    def pipe_key_values(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        """Pipe keys and values, one pair after the other."""
        for key, value in pairs:
            self.pipe_input(key, value)

    def pipe_records(self, records: Iterable[Record]) -> None:
        """Pipe records with their own times, one after the other."""
        for record in records:
            self._pipe([(self.name, record)])

    def advance_time(self, step: Duration) -> None:
        """Advance the topic's time."""
        self._time += to_timedelta(step) // timedelta(milliseconds=1)

    def _record(
        self, key: Any, value: Any, timestamp: int | datetime | None, headers: Headers, partition: int | None
    ) -> Record:
        if timestamp is None:
            time = self._time
            self._time += self._advance
        else:
            time = milliseconds(timestamp)
        pairs = tuple(headers.items()) if isinstance(headers, Mapping) else tuple(headers)
        return Record(key, value, time, pairs, partition=partition)


class OutputTopic:
    """Reads what was written to a topic. A record is read once."""

    def __init__(self, name: str, queue: deque[Record], key: Serde, value: Serde) -> None:
        self.name = name
        self._queue = queue
        self._key = key
        self._value = value

    def read_record(self) -> Record:
        """Return the next record."""
        if not self._queue:
            raise LookupError(f"The topic {self.name!r} has no more records; check is_empty() first")
        return self._decoded(self._queue.popleft())

    def read_value(self) -> Any:
        """Return the value of the next record."""
        return self.read_record().value

    def read_key_value(self) -> tuple[Any, Any]:
        """Return key and value of the next record."""
        record = self.read_record()
        return record.key, record.value

    def read_records_to_list(self) -> list[Record]:
        """Return all remaining records."""
        records = [self._decoded(record) for record in self._queue]
        self._queue.clear()
        return records

    def read_values_to_list(self) -> list[Any]:
        """Return the values of all remaining records."""
        return [record.value for record in self.read_records_to_list()]

    def read_key_values_to_list(self) -> list[tuple[Any, Any]]:
        """Return the keys and values of all remaining records."""
        return [(record.key, record.value) for record in self.read_records_to_list()]

    def read_key_values_to_map(self) -> dict[Any, Any]:
        """Return the last value of each key among the remaining records."""
        return dict(self.read_key_values_to_list())

    def is_empty(self) -> bool:
        """Return whether there are no records left to read."""
        return not self._queue

    def queue_size(self) -> int:
        """Return how many records are left to read."""
        return len(self._queue)

    def _decoded(self, raw: Record) -> Record:
        return Record(
            self._key.deserialize(raw.key),
            self._value.deserialize(raw.value),
            raw.timestamp,
            raw.headers,
            raw.topic,
            raw.partition,
            raw.offset,
        )
