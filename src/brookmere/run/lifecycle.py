"""The states of an application, and the listeners that hear of every change; thread-safe."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Literal

logger = logging.getLogger(__name__)

State = Literal["created", "running", "stopping", "stopped", "failed"]
StateListener = Callable[[State, State], object]
"""Receives the new state and the old one."""

_NEXT: dict[State, tuple[State, ...]] = {
    "created": ("running", "stopped"),
    "running": ("stopping", "failed"),
    "stopping": ("stopped", "failed"),
    "stopped": (),
    "failed": (),
}


class Lifecycle:
    """Moves from state to state. Listeners hear of all changes in order, one at a time."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._state: State = "created"
        self._error: Exception | None = None
        self._listeners: list[StateListener] = []
        self._pending: deque[tuple[State, State]] = deque()
        self._notifier: int | None = None
        """The thread that calls the listeners."""

    @property
    def state(self) -> State:
        """The current state."""
        return self._state

    @property
    def error(self) -> Exception | None:
        """Why the state is "failed", or None."""
        return self._error

    def listen(self, listener: StateListener) -> None:
        """Call `listener` at every change from now on."""
        with self._changed:
            self._listeners.append(listener)

    def move(self, new: State, error: Exception | None = None) -> bool:
        """Change the state and notify the listeners; False if the current state does not allow it."""
        with self._changed:
            if new not in _NEXT[self._state]:
                return False
            self._pending.append((new, self._state))
            self._state, self._error = new, error
            self._changed.notify_all()
            if self._notifier is not None:
                # That thread also reports this change. Waiting for it here could be waiting for oneself.
                return True
            self._notifier = threading.get_ident()
        self._notify()
        return True

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the application has ended and the listeners know it; False after a timeout."""
        with self._changed:
            return self._changed.wait_for(self._has_ended, timeout)

    def _has_ended(self) -> bool:
        # A listener that waits must not wait for its own return.
        return not _NEXT[self._state] and self._notifier in (None, threading.get_ident())

    def _notify(self) -> None:
        while True:
            with self._changed:
                if not self._pending:
                    self._notifier = None
                    self._changed.notify_all()
                    return
                new, old = self._pending.popleft()
                listeners = list(self._listeners)
            for listener in listeners:
                try:
                    listener(new, old)
                except Exception:
                    logger.exception("a listener failed on the state %s", new)
