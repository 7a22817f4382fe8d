"""Turns what nodes forward into rows that go back to the JVM, and into calls of nodes of the same stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from brookmere.worker.code import SAME

if TYPE_CHECKING:
    from brookmere.record import Header


class Output(Protocol):
    """The way out of a node. Values are converted, and so copied, when they are forwarded."""

    def forward(self, key: Any, value: Any, ts: int, headers: tuple[Header, ...] = SAME) -> None:
        """Send a record of a stream to all children."""
        ...

    def forward_change(
        self, key: Any, new: Any, old: Any, ts: int, headers: tuple[Header, ...] = SAME
    ) -> None:
        """Send a change of a table to all children."""
        ...

    def send_wire(self, key: Any, new: Any, old: Any, ts: int, headers: tuple[Header, ...] = SAME) -> None:
        """Send a change whose values are in the form of the wire already."""
        ...

    def drop(
        self, reason: str, key: Any, value: Any, ts: int, stream_time: int, start: int, end: int
    ) -> None:
        """Count a record that came too late, and tell it to the JVM."""
        ...

    def to(self, child: str) -> Output:
        """Return the way out to one child only."""
        ...
