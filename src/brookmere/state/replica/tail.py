"""Follows a changelog in a background thread and applies its records to the rows of a store."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from typing import Any

from brookmere.errors import BrookmereError, DataLossError, StateError, StoreNotReadyError
from brookmere.serde import BadBytes, Serde
from brookmere.state.description.store_info import StoreInfo
from brookmere.state.replica import notes
from brookmere.state.replica.changelog_source import Source, source_of
from brookmere.state.replica.notes import Notes, misfit
from brookmere.state.rows.backend import META, Backend
from brookmere.state.rows.chunk import Chunk
from brookmere.state.rows.rows import Rows, rows_of
from brookmere.state.updates import Updates
from brookmere.topics import AnyTopic, AnyTopics
from brookmere.topics.times import now_ms

logger = logging.getLogger(__name__)

_LOOK_SECONDS = 0.02
_GROWTH_SECONDS = 30.0
_PAUSE_SECONDS = 1.0
_NOTE_MS = 60_000


class Tail:
    """Follows the changelog of a store from the offsets in its notes until it is closed.

    Retries while the topic does not exist or cannot be read; `error` says what is wrong.
    """

    def __init__(
        self,
        info: StoreInfo,
        topics: AnyTopics,
        backend: Backend,
        *,
        key: Serde,
        value: Serde,
        kept_key: Serde | None = None,
    ) -> None:
        self.info = info
        self.backend = backend
        self.rows: Rows | None = None
        self.answering: Any = None
        """The rows, once they have caught up with the changelog; None before and after the close."""
        self.error: BrookmereError | None = None
        self.is_ready = False
        """Whether the rows have caught up with the changelog once."""
        self.is_closed = False
        self.checked_at = -1
        self.skipped = 0
        """How many undecodable records of the table's source topic were skipped."""
        self.changed = threading.Condition()
        """Notified of all progress."""
        self._topics = topics
        self._serdes = key, value
        self._kept_key = kept_key
        """The serde that normalises the keys of a table's source topic; None if they stay as they are."""
        self._notes = Notes("", info.kind)
        self._ends: list[int] = []
        self._stop = threading.Event()
        self._subscribers: tuple[Updates, ...] = ()
        # Repeated failures are logged once.
        self._told = ""
        self._thread = threading.Thread(target=self._run, name=f"replica of {info.name}", daemon=True)

    def start(self) -> None:
        """Start to follow the changelog."""
        self._thread.start()

    def close(self) -> None:
        """Stop and close the files."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()
        self.is_closed = True
        self.answering = None
        for subscriber in self._subscribers:
            subscriber.finish()
        with self.changed:
            self.changed.notify_all()
        self.backend.close()

    @property
    def positions(self) -> Mapping[int, int]:
        """By partition, the offset after the last record applied to the rows."""
        return self._notes.positions

    @property
    def lag(self) -> int:
        """The lag behind the end of the changelog when it was last looked up."""
        own = self._notes.positions
        return sum(max(0, end - own.get(partition, 0)) for partition, end in enumerate(self._ends))

    def ends_now(self) -> Mapping[int, int]:
        """Return the current end offsets of the changelog."""
        return dict(enumerate(self._topics[self.info.topic].end_offsets()))

    def subscribe(self, updates: Updates) -> None:
        """Send updates to a subscriber from now on."""
        with self.changed:
            self._subscribers = (*self._subscribers, updates)

    def unsubscribe(self, updates: Updates) -> None:
        """Send no more updates to a subscriber."""
        with self.changed:
            self._subscribers = tuple(each for each in self._subscribers if each is not updates)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._follow()
            except BrookmereError as error:
                self._fail(error)
                self._stop.wait(_PAUSE_SECONDS)
            except Exception as error:
                # The error is kept for queries: nobody waits for this thread.
                logger.exception("the replica of %s failed", self.info.name)
                self._fail(
                    StateError(
                        f"The replica of the store {self.info.name!r} failed: "
                        f"{type(error).__name__}: {error}. It retries."
                    )
                )
                self._stop.wait(_PAUSE_SECONDS)

    def _fail(self, error: BrookmereError) -> None:
        if str(error) != self._told:
            logger.warning("the replica of %s: %s", self.info.name, error)
            self._told = str(error)
        with self.changed:
            self.error = error
            self.changed.notify_all()

    def _follow(self) -> None:
        topic = self._topics[self.info.topic]
        self._match(topic)
        source = source_of(self._topics, topic, self._notes.positions)
        try:
            self._keep_up(topic, source)
        except DataLossError as error:
            self._fail(error)
            self._begin_anew("the changelog no longer has the next records")
        finally:
            source.close()

    def _keep_up(self, topic: AnyTopic, source: Source) -> None:
        goal = self._look(source)
        grown = time.monotonic() + _GROWTH_SECONDS
        look = time.monotonic() + source.look_seconds
        while not self._stop.is_set():
            self._take(source)
            if not self.is_ready and self._covers(goal):
                self._become_ready()
            if time.monotonic() >= look:
                self._look(source)
                look = time.monotonic() + source.look_seconds
            self._note_level()
            if time.monotonic() >= grown:
                if not self._is_same(topic):
                    return
                grown = time.monotonic() + _GROWTH_SECONDS

    def _is_same(self, topic: AnyTopic) -> bool:
        now = self._topics[self.info.topic]
        return now.id == topic.id and now.partitions == topic.partitions

    def _match(self, topic: AnyTopic) -> None:
        """Discard rows that do not belong to this topic or are too old."""
        written = self.backend.get(META, notes.KEY)
        found = notes.from_bytes(written)
        why = None if written is None else misfit(found, topic, self.info)
        if why is not None:
            self._begin_anew(why)
            found = None
        starts = topic.start_offsets()
        known = {} if found is None else found.positions
        # Windows deleted by retention have expired as well.
        positions = {p: max(start, known.get(p, start)) for p, start in enumerate(starts)}
        self.rows = rows_of(self.info, self.backend, topic.partitions)
        self.rows.observed.update({} if found is None else found.observed)
        self.answering = self.rows if self.is_ready else None
        # A new replica has missed nothing.
        level_at = now_ms() if found is None else found.level_at
        self._notes = Notes(topic.id, self.info.kind, positions, dict(self.rows.observed), level_at)

    def _begin_anew(self, why: str) -> None:
        logger.info("the replica of %s starts from scratch: %s", self.info.name, why)
        was_ready = self.is_ready
        self.is_ready = False
        self.rows = self.answering = None
        self.skipped = 0
        self.backend.clear()
        self._notes = Notes("", self.info.kind)
        if was_ready:
            self._disown(why)

    def _disown(self, why: str) -> None:
        """Notify subscribers that known rows may be gone and that offsets may repeat."""
        with self.changed:
            subscribers = self._subscribers
        for subscriber in subscribers:
            subscriber.lose(
                StoreNotReadyError(
                    f"The replica of the store {self.info.name!r} starts from scratch: {why}. "
                    "When it is ready, read the rows and subscribe again."
                )
            )

    def _take(self, source: Source) -> None:
        for chunk in source.poll(_LOOK_SECONDS):
            self._apply(chunk)
            if self._stop.is_set():
                break

    def _apply(self, chunk: Chunk) -> None:
        assert self.rows is not None
        kept = self._decodable(chunk) if self.info.is_source else chunk
        writes = self.rows.writes(kept)
        after = Notes(
            self._notes.topic,
            self.info.kind,
            {**self._notes.positions, chunk.partition: chunk.end},
            dict(self.rows.observed),
            self._notes.level_at,
        )
        self.backend.write({**writes, META: {notes.KEY: notes.to_bytes(after)}})
        with self.changed:
            self._notes = after
            self._told = ""
            self.changed.notify_all()
            subscribers = self._subscribers
        for subscriber in subscribers:
            subscriber.offer(kept)

    def _decodable(self, chunk: Chunk) -> Chunk:
        """Return the decodable records; the application skipped the others."""
        good: list[int] = []
        values: list[bytes | None] = []
        keys: list[bytes | None] = []
        key, value = self._serdes
        for place, data in enumerate(chunk.values):
            raw = chunk.keys[place]
            try:
                found = key.deserialize(raw)
                if found is None:
                    continue
                # Bytes that a custom serde decodes to None delete the row, too.
                values.append(None if value.deserialize(data) is None else data)
            except BadBytes:
                self.skipped += 1
            else:
                good.append(place)
                keys.append(raw if self._kept_key is None else self._kept_key.serialize(found))
        return Chunk(
            chunk.partition,
            [chunk.offsets[place] for place in good],
            [chunk.timestamps[place] for place in good],
            keys,
            values,
            chunk.end,
        )

    def _look(self, source: Source) -> list[int]:
        ends = source.ends()
        self._ends = ends
        self.checked_at = now_ms()
        if self.error is not None:
            self.error = None
        return ends

    def _covers(self, ends: list[int]) -> bool:
        return all(self._notes.positions.get(partition, 0) >= end for partition, end in enumerate(ends))

    def _become_ready(self) -> None:
        with self.changed:
            self.is_ready = True
            self.answering = self.rows
            self.changed.notify_all()

    def _note_level(self) -> None:
        """Write from time to time that the replica is caught up, for the next start."""
        now = now_ms()
        if now - self._notes.level_at < _NOTE_MS or not self._covers(self._ends):
            return
        before = self._notes
        self._notes = Notes(before.topic, before.kind, before.positions, before.observed, now)
        self.backend.write({META: {notes.KEY: notes.to_bytes(self._notes)}})
