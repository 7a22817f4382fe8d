"""The producer: takes records one at a time and appends them in batches."""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Self

import pyarrow as pa

from brookmere.durations import Duration, to_seconds
from brookmere.errors import TopicError, UnreachableError
from brookmere.record import Header, Record
from brookmere.serde import Serde
from brookmere.topics.any_topics import AnyTopic
from brookmere.topics.log.topic import Topic
from brookmere.topics.times import milliseconds, now_ms

_FULL_RECORDS = 50_000
_FULL_BYTES = 16 * 1024 * 1024
_MAINTAIN_SECONDS = 30.0

_log = logging.getLogger(__name__)


class Producer:
    """Sends records to a topic. Create one with `Topics.producer`.

    A thread appends what was sent; records sent meanwhile go into the next append, and with `linger` the
    thread waits that long for more. After `flush` or `close` the records are in the topic. If an append
    fails, its records are kept, the next call raises the error, and another `flush` tries again.
    """

    def __init__(
        self, topic: AnyTopic, key: Serde | None, value: Serde | None, *, linger: Duration = timedelta(0)
    ) -> None:
        self.topic = topic
        self._key = None if key is None else key.for_topic(topic.name, is_key=True)
        self._value = None if value is None else value.for_topic(topic.name, is_key=False)
        self._linger = to_seconds(linger)
        self._changed = threading.Condition()
        self._waiting: list[Record] = []
        self._bytes = 0
        self._sending = False
        self._flushing = 0
        self._closing = False
        self._error: BaseException | None = None
        self._ends: dict[int, int] = {}
        self._maintained = time.monotonic()
        # The first array makes Arrow import pandas if it is installed; that fails while Python shuts down.
        pa.array([])
        self._thread = threading.Thread(target=self._work, name=f"producer-{topic.name}", daemon=True)
        self._thread.start()
        atexit.register(self._close_at_exit)

    def send(
        self,
        key: Any = None,
        value: Any = None,
        *,
        timestamp: int | datetime | None = None,
        headers: Mapping[str, bytes | None] | Sequence[Header] = (),
        partition: int | None = None,
    ) -> None:
        """Send a record. Raise at once if the serde cannot write it or the topic does not accept it."""
        pairs = tuple(headers.items()) if isinstance(headers, Mapping) else tuple(headers)
        moment = now_ms() if timestamp is None else milliseconds(timestamp)
        record = Record(
            _serialized("key", self._key, key),
            _serialized("value", self._value, value),
            moment,
            pairs,
            partition=partition,
        )
        self.topic.check(record)
        with self._changed:
            if self._is_full():
                self._changed.wait_for(lambda: not self._is_full() or self._error or self._closing)
            self._raise_error()
            if self._closing:
                raise TopicError(f"The producer of {self.topic.name!r} is closed. Create another one.")
            self._waiting.append(record)
            self._bytes += len(record.key or b"") + len(record.value or b"")
            if len(self._waiting) == 1 or self._is_full():
                self._changed.notify_all()

    def flush(self) -> None:
        """Wait until everything sent so far is in the topic."""
        with self._changed:
            self._error = None
            self._flushing += 1
            self._changed.notify_all()
            try:
                self._changed.wait_for(lambda: self._error or not (self._waiting or self._sending))
            finally:
                self._flushing -= 1
            self._raise_error()

    def close(self) -> None:
        """Flush and close; records that cannot be appended now are lost, which raises an error."""
        atexit.unregister(self._close_at_exit)
        try:
            self.flush()
        finally:
            with self._changed:
                self._closing = True
                self._changed.notify_all()
            self._thread.join()

    @property
    def position(self) -> Mapping[str, Mapping[int, int]]:
        """By partition, the offset after the last record it has written; complete after a flush.

        A store that has reached these offsets contains the effect of these records.
        """
        return {self.topic.name: dict(self._ends)}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def _is_full(self) -> bool:
        return len(self._waiting) >= _FULL_RECORDS or self._bytes >= _FULL_BYTES

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closing or (self._waiting and not self._error))
                if not self._closing and self._linger:
                    self._changed.wait_for(
                        lambda: self._closing or self._flushing or self._is_full(), timeout=self._linger
                    )
                if self._closing:
                    return
                records, self._waiting = self._waiting, []
                size, self._bytes = self._bytes, 0
                self._sending = True
                self._changed.notify_all()
            error = self._append(records)
            with self._changed:
                self._sending = False
                if error is not None:
                    self._waiting = records + self._waiting
                    self._bytes += size
                    self._error = error
                self._changed.notify_all()

    def _append(self, records: list[Record]) -> Exception | None:
        try:
            done = self.topic.append(records)
        except Exception as error:  # noqa: BLE001 - whatever it is, the next call raises it.
            return error
        self._ends |= {partition: offsets.stop for partition, offsets in done.offsets.items()}
        # Kafka maintains its topics itself.
        if isinstance(self.topic, Topic) and time.monotonic() - self._maintained > _MAINTAIN_SECONDS:
            self._maintained = time.monotonic()
            try:
                self.topic.maintain()
            except (TopicError, OSError) as error:
                _log.warning("%s", error)
        return None

    def _close_at_exit(self) -> None:
        try:
            self.close()
        except (TopicError, UnreachableError) as error:
            _log.error("Records were lost when the program ended: %s", error)


def _serialized(what: str, serde: Serde | None, value: Any) -> bytes | None:
    if serde is not None:
        return serde.serialize(value)
    if value is None or isinstance(value, bytes):
        return value
    raise TypeError(
        f"A producer without a serde takes the {what} as bytes, found {type(value).__name__} {value!r:.80}; "
        f"pass a serde, as in topics.producer(name, {what}=bm.Text())"
    )
