"""What all tasks of a worker process share: the channel, and objects that are made once."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from brookmere.worker.task.failures import FAILURES

if TYPE_CHECKING:
    from collections.abc import Callable

    from brookmere.worker.protocol.channel import Channel

_LOG = logging.getLogger(__name__)


class Gone(BaseException):
    """The JVM has closed the channel while the worker waited for an answer."""


class Process:
    """What tasks share. `heard` is called with each exception of user code."""

    def __init__(self, channel: Channel, heard: Callable[[BaseException], None] | None = None) -> None:
        self._channel = channel
        self._heard = heard
        self._made: dict[Any, Any] = {}

    def heard(self, error: BaseException) -> None:
        """Report an exception of user code to the caller of the worker."""
        if self._heard is not None:
            self._heard(error)

    def ask(self, changes: list[Any], question: str, store: int, *details: Any) -> Any:
        """Return the JVM's answer to a request for rows of a store."""
        self._channel.send("S", (changes, question, store, *details))
        answer = self._channel.receive()
        if answer is None or answer[0] != "A":
            raise Gone
        return answer[1]

    def once(self, factory: Callable[[], Any]) -> Any:
        """Return the object that equal factories share: made once, and opened if it has open()."""
        if factory not in self._made:
            made = factory()
            if hasattr(made, "open"):
                made.open()
            self._made[factory] = made
        return self._made[factory]

    def close(self) -> None:
        """Close objects that were made once, the last first. Failures are only logged."""
        for made in reversed(self._made.values()):
            try:
                if hasattr(made, "close"):
                    made.close()
            except FAILURES:
                _LOG.exception("%s failed in close()", type(made).__name__)
        self._made.clear()
