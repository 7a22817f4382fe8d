"""Follows a changelog in a thread of its own, and keeps the rows of its store as the changelog tells them."""

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
    """Follows the changelog of a store, from where its own notes say, until it is closed.

    A topic that is not there yet, or cannot be read, is tried again and again; `error` tells what is wrong.
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
        """The rows as soon as they may be asked: level with the changelog once, and not closed."""
        self.error: BrookmereError | None = None
        self.is_ready = False
        """Whether the rows have been level with the changelog once."""
        self.is_closed = False
        self.checked_at = -1
        self.skipped = 0
        """How many records of the table's own topic were no rows, because they do not decode."""
        self.changed = threading.Condition()
        """Told of every step ahead."""
        self._topics = topics
        self._serdes = key, value
        self._kept_key = kept_key
        """What the keys of a table's own topic are written with anew; None where they stay as they are."""
        self._notes = Notes("", info.kind)
        self._ends: list[int] = []
        self._stop = threading.Event()
        self._subscribers: tuple[Updates, ...] = ()
        # What is tried again and again is told once.
        self._told = ""
        self._thread = threading.Thread(target=self._run, name=f"replica of {info.name}", daemon=True)

    def start(self) -> None:
        """Begin to follow."""
        self._thread.start()

    def close(self) -> None:
        """Stop and let go of the files."""
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
        """By partition, the offset behind the last record that is in the rows."""
        return self._notes.positions

    @property
    def lag(self) -> int:
        """How many offsets of the changelog were missing when its end was last looked at."""
        own = self._notes.positions
        return sum(max(0, end - own.get(partition, 0)) for partition, end in enumerate(self._ends))

    def ends_now(self) -> Mapping[int, int]:
        """Return where the changelog ends at this moment."""
        return dict(enumerate(self._topics[self.info.topic].end_offsets()))

    def subscribe(self, updates: Updates) -> None:
        """Tell of updates from now on."""
        with self.changed:
            self._subscribers = (*self._subscribers, updates)

    def unsubscribe(self, updates: Updates) -> None:
        """Tell no more."""
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
                # Whoever asks must hear of it; the thread has nobody to tell.
                logger.exception("the replica of %s failed", self.info.name)
                self._fail(
                    StateError(
                        f"The replica of the store {self.info.name!r} failed: "
                        f"{type(error).__name__}: {error}. It tries again."
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
            self._begin_anew("the changelog no longer has what comes next")
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
        """Make the rows fit the topic: those of another topic are of no use, and very old ones neither."""
        written = self.backend.get(META, notes.KEY)
        found = notes.from_bytes(written)
        why = None if written is None else misfit(found, topic, self.info)
        if why is not None:
            self._begin_anew(why)
            found = None
        starts = topic.start_offsets()
        known = {} if found is None else found.positions
        # Windows that retention has deleted are not rows any more either.
        positions = {p: max(start, known.get(p, start)) for p, start in enumerate(starts)}
        self.rows = rows_of(self.info, self.backend, topic.partitions)
        self.rows.observed.update({} if found is None else found.observed)
        self.answering = self.rows if self.is_ready else None
        # Who begins has missed nothing yet.
        level_at = now_ms() if found is None else found.level_at
        self._notes = Notes(topic.id, self.info.kind, positions, dict(self.rows.observed), level_at)

    def _begin_anew(self, why: str) -> None:
        logger.info("the replica of %s begins anew: %s", self.info.name, why)
        was_ready = self.is_ready
        self.is_ready = False
        self.rows = self.answering = None
        self.skipped = 0
        self.backend.clear()
        self._notes = Notes("", self.info.kind)
        if was_ready:
            self._disown(why)

    def _disown(self, why: str) -> None:
        """Tell subscribers: rows that they know have gone, and offsets may come once more."""
        with self.changed:
            subscribers = self._subscribers
        for subscriber in subscribers:
            subscriber.lose(
                StoreNotReadyError(
                    f"The replica of the store {self.info.name!r} begins anew: {why}. "
                    "Read what is there when it is ready, and ask for updates anew."
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
        """Return the records that are rows: the application has left out the others."""
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
                # Bytes that a serde of the program reads as nothing delete the row, too.
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
        """Put down once in a while that nothing is missing, for the next start."""
        now = now_ms()
        if now - self._notes.level_at < _NOTE_MS or not self._covers(self._ends):
            return
        before = self._notes
        self._notes = Notes(before.topic, before.kind, before.positions, before.observed, now)
        self.backend.write({META: {notes.KEY: notes.to_bytes(self._notes)}})
