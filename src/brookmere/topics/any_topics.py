"""The interface that embedded topics and Kafka's share, so that programs can use either."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol, Self

import pyarrow as pa

from brookmere.durations import Duration
from brookmere.record import Header, Record
from brookmere.serde import Serde
from brookmere.topics.log.append import Appended

Start = Literal["earliest", "latest"] | Mapping[int, int] | int | datetime
"""Where a consumer starts: at an end of the topic, at offsets by partition, or at a time."""


class SettingsOfTopic(Protocol):
    """The settings of a topic."""

    @property
    def cleanup_policy(self) -> str:
        """The setting cleanup.policy: delete, compact or compact,delete."""

    @property
    def compacts(self) -> bool:
        """Whether compaction eventually keeps only the last record of each key."""

    def by_name(self) -> Mapping[str, str | int]:
        """Return the settings by Kafka's names."""


class AnyTopic(Protocol):
    """A topic, embedded or in Kafka."""

    @property
    def name(self) -> str:
        """The topic's name."""

    @property
    def id(self) -> str:
        """Distinguishes this topic from an earlier one of the same name."""

    @property
    def partitions(self) -> int:
        """The number of partitions."""

    @property
    def config(self) -> SettingsOfTopic:
        """The topic's settings."""

    def start_offsets(self) -> list[int]:
        """Return the first readable offset of each partition."""

    def end_offsets(self) -> list[int]:
        """Return the offset after the last readable record of each partition."""

    def offsets_for_time(self, timestamp: int) -> list[int]:
        """Return, for each partition, the first offset whose timestamp is not lower, or its end offset."""

    def append(self, records: Iterable[Record]) -> Appended:
        """Append records and return their offsets."""

    def append_batch(self, partition: int | None, data: pa.RecordBatch | pa.Table) -> Appended:
        """Append columns named timestamp, key, value and headers."""

    def read(self, partition: int, start: int | None = None, end: int | None = None) -> Iterator[Record]:
        """Read the current records of a partition, from offset `start` up to but excluding `end`."""

    def record(self, partition: int, offset: int) -> Record | None:
        """Return the record at an offset, or None if there is none, for example after compaction."""

    def check(self, record: Record) -> None:
        """Raise the error that appending this record, with bytes or None as key and value, would raise."""


class AnyProducer(Protocol):
    """Sends records to a topic."""

    def send(
        self,
        key: Any = None,
        value: Any = None,
        *,
        timestamp: int | datetime | None = None,
        headers: Mapping[str, bytes | None] | Sequence[Header] = (),
        partition: int | None = None,
    ) -> None:
        """Send a record."""

    def flush(self) -> None:
        """Wait until everything sent so far is in the topic."""

    def close(self) -> None:
        """Flush and close."""

    @property
    def position(self) -> Mapping[str, Mapping[int, int]]:
        """By partition, the offset after the last record it has written; complete after a flush."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *failure: object) -> None: ...


class AnyConsumer(Protocol):
    """Reads a topic."""

    positions: dict[int, int]
    """By partition, the offset to read next."""

    def __iter__(self) -> Iterator[Record]: ...

    def poll(self, timeout: Duration = timedelta(0), *, limit: int = 500) -> list[Record]:
        """Return up to `limit` records as soon as there are any, or none after the timeout."""

    def close(self) -> None:
        """Release files or connections."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *failure: object) -> None: ...


class AnyTopics(Protocol):
    """A set of topics, in a directory or in a Kafka cluster."""

    def command(self, rest: str) -> str:
        """Return the shell command that runs `brookmere topics` on these topics, for error messages."""

    def names(self) -> list[str]:
        """Return the names of all topics, sorted."""

    def __iter__(self) -> Iterator[str]: ...

    def __contains__(self, name: object) -> bool: ...

    def __getitem__(self, name: str) -> AnyTopic: ...

    def create(
        self,
        name: str,
        partitions: int = 1,
        config: Mapping[str, object] | None = None,
        *,
        exist_ok: bool = False,
    ) -> AnyTopic:
        """Create a topic. With `exist_ok` an existing one is returned unchanged."""

    def delete(self, name: str) -> None:
        """Delete a topic and all its records."""

    def producer(
        self,
        name: str,
        *,
        key: Serde | None = None,
        value: Serde | None = None,
        linger: Duration = timedelta(0),
    ) -> AnyProducer:
        """Return a producer that uses these serdes for keys and values; without a serde they are bytes."""

    def consumer(
        self,
        name: str,
        *,
        key: Serde | None = None,
        value: Serde | None = None,
        start: Start = "earliest",
        follow: bool = False,
    ) -> AnyConsumer:
        """Return a consumer that starts at "earliest", "latest", a time, or offsets by partition."""
