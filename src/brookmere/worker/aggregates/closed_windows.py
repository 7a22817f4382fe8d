"""Finds the windows that have closed and sends each of them once, in the order of Kafka Streams."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from brookmere.worker.aggregates.definitions import FOREVER, NO_TIME
from brookmere.worker.protocol.stage_code import NodeCode, Runtime

if TYPE_CHECKING:
    from brookmere.worker.aggregates.windows import Windowing

_MANY = 4096


class Unsent:
    """The times of rows of a store that may not have been sent yet. Where there are none, it is not asked.

    Operators that share a store share it.
    """

    __slots__ = ("_members", "_store", "_times")

    def __init__(self, store: Any) -> None:
        self._store = store
        self._times: list[int] | None = None
        self._members: list[Closing] = []

    def join(self, member: Closing) -> None:
        """Let an operator take part."""
        self._members.append(member)

    def expect(self, time: int) -> None:
        """Take down that a row of this time is put."""
        times = self._times
        if times is None or (times and times[-1] == time):
            return
        if not times or times[-1] < time:
            times.append(time)
            return
        place = bisect_left(times, time)
        if times[place] != time:
            times.insert(place, time)

    def has_rows(self, earliest: int, latest: int) -> bool:
        """Tell whether there may be rows between two times, both included."""
        times = self._times
        if times is None:
            # Nothing is known of what an earlier process has put.
            first = min(member.earliest() for member in self._members)
            self._times = times = sorted({row[1] for row in self._store.between(first, FOREVER)})
        elif len(times) > _MANY:
            del times[: bisect_left(times, min(member.earliest() for member in self._members))]
        place = bisect_left(times, earliest)
        return place < len(times) and times[place] <= latest


class Closing:
    """What one operator has sent of its store."""

    __slots__ = ("_kept_from", "_of", "_sent_to", "_unsent")

    def __init__(self, of: Windowing, node: NodeCode, runtime: Runtime, store: str) -> None:
        self._of = of
        self._sent_to = runtime.clock(f"node:{node.name}:sent", NO_TIME)
        self._unsent: Unsent = runtime.line(f"unsent:{store}", lambda: Unsent(of.store))
        self._unsent.join(self)
        self._kept_from = runtime.clock(f"keep:{store}", FOREVER) if of.emission.emit_all else None
        self._keep_unsent()

    def earliest(self) -> int:
        """Return the earliest time of rows that are still to be sent."""
        return self._of.closed_from(self._sent_to.time)

    def expect(self, time: int) -> None:
        """Take down that a row of this time is put."""
        self._unsent.expect(time)

    def emit(self, close_time: int) -> None:
        """Send the rows whose windows have closed by `close_time`."""
        of, sent_to = self._of, self._sent_to
        if sent_to.time != NO_TIME and sent_to.time >= close_time:
            return
        latest = of.closed_to(close_time)
        if latest < 0:
            return
        earliest = of.closed_from(sent_to.time)
        if sent_to.time != NO_TIME and not of.may_have_closed(earliest, latest):
            return
        if not of.emission.emit_all:
            earliest = max(earliest, of.retention.droppable(of.store.time))
        if self._unsent.has_rows(earliest, latest):
            for key, time, number, value, ts in of.store.between(earliest, latest):
                of.out.send_wire(of.key_of(key, time, number), value, None, ts)
        sent_to.time = close_time
        self._keep_unsent()

    def _keep_unsent(self) -> None:
        """Windows that were not sent yet stay, however far stream time jumps."""
        if self._kept_from is not None:
            self._kept_from.time = self.earliest()
