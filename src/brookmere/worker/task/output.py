"""Where the outputs of a node go: rows for the JVM, and calls of nodes of the same stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from brookmere.worker.protocol.stage_code import SAME

if TYPE_CHECKING:
    from collections.abc import Callable

    from brookmere.record import Header


class Forward(Protocol):
    """Sends a record of a stream. The key and the value are converted, and so copied, before it returns."""

    def __call__(self, key: Any, value: Any, ts: int, headers: tuple[Header, ...] = SAME) -> None: ...


class ForwardChange(Protocol):
    """Sends a change of a table."""

    def __call__(self, key: Any, new: Any, old: Any, ts: int, headers: tuple[Header, ...] = SAME) -> None: ...


class Output:
    """The output of a node, to all children or to one of them.

    `send_wire` sends a change whose values, but not the key, are already in wire form.
    """

    __slots__ = ("_to", "forward", "forward_change", "send_wire")

    def __init__(
        self,
        forward: Forward,
        forward_change: ForwardChange,
        send_wire: ForwardChange,
        to: Callable[[str], Output],
    ) -> None:
        self.forward = forward
        self.forward_change = forward_change
        self.send_wire = send_wire
        self._to = to

    def to(self, child: str) -> Output:
        """Return the output to one child only."""
        return self._to(child)
