"""Updates of a replica's stores, for subscribers."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Self

from brookmere.durations import Duration, to_seconds
from brookmere.errors import StoreError
from brookmere.state.rows.chunk import Chunk

_MOST_HELD = 10_000


class Update(NamedTuple):
    """A change of a row; a value of None means that it was deleted."""

    key: Any
    value: Any
    timestamp: int
    partition: int
    offset: int


_Raw = tuple[bytes, bytes | None, int, int, int]


class Updates:
    """The updates of a store, or of one key, from now on. Iterating waits for the next one.

    Slow readers receive only the latest update per key, and a StoreError if even that is too much. If the
    replica starts from scratch, readers get a StoreNotReadyError, because rows they know may be gone.
    """

    def __init__(
        self,
        decode: Callable[[_Raw], Update],
        matches: Callable[[bytes], bool],
        end: Callable[[Updates], None],
    ) -> None:
        self._decode = decode
        self._matches = matches
        self._end = end
        self._held: deque[_Raw] = deque()
        self._changed = threading.Condition()
        self._over: StoreError | None = None
        self._is_closed = False
        self._listener: Callable[[], object] | None = None

    def get(self, timeout: Duration | None = None) -> Update | None:
        """Return the next update; None after the timeout or once the replica is closed."""
        deadline = None if timeout is None else time.monotonic() + to_seconds(timeout)
        with self._changed:
            while not self._held:
                left = None if deadline is None else deadline - time.monotonic()
                if self._over is not None:
                    raise self._over.with_traceback(None)
                if self._is_closed or (left is not None and left <= 0):
                    return None
                self._changed.wait(left)
            found = self._held.popleft()
        return self._decode(found)

    def on_update(self, listener: Callable[[], object]) -> None:
        """Call `listener()` from the replica's thread whenever updates are available."""
        self._listener = listener

    @property
    def is_closed(self) -> bool:
        """Whether the updates have ended."""
        return self._is_closed

    def close(self) -> None:
        """Unsubscribe."""
        self._end(self)
        self.finish()

    def finish(self) -> None:
        """End the updates and wake waiting readers."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        self._call()

    def offer(self, chunk: Chunk) -> None:
        """Accept updates that match the subscription; called by the replica."""
        found = [
            (key, chunk.values[place], chunk.timestamps[place], chunk.partition, chunk.offsets[place])
            for place, key in enumerate(chunk.keys)
            if key is not None and self._matches(key)
        ]
        if not found:
            return
        with self._changed:
            if self._over is not None:
                # Updates are lost already, and the reader must not continue without noticing.
                return
            self._held.extend(found)
            if len(self._held) > _MOST_HELD:
                self._held = deque({raw[0]: raw for raw in self._held}.values())
            if len(self._held) > _MOST_HELD:
                self._lose(
                    StoreError(
                        f"More than {_MOST_HELD} keys have changed since the last update was read. "
                        "Read faster, subscribe to one key, or subscribe again and read the current rows."
                    )
                )
            self._changed.notify_all()
        self._call()

    def lose(self, why: StoreError) -> None:
        """Fail waiting readers, because they have missed updates; called by the replica."""
        with self._changed:
            self._lose(why)
            self._changed.notify_all()
        self._call()

    def _lose(self, why: StoreError) -> None:
        self._held.clear()
        self._over = why

    def _call(self) -> None:
        if self._listener is not None:
            self._listener()

    def __iter__(self) -> Iterator[Update]:
        while (update := self.get()) is not None:
            yield update

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()
