"""The states of an application, for any number of threads, and who is told of them."""

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
    """One state at a time. Listeners hear of each change in order, one after the other."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._state: State = "created"
        self._error: Exception | None = None
        self._listeners: list[StateListener] = []
        self._untold: deque[tuple[State, State]] = deque()
        self._teller: int | None = None
        """The thread that calls the listeners."""

    @property
    def state(self) -> State:
        """The state right now."""
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
        """Change the state and tell everybody; False where the state does not allow it."""
        with self._changed:
            if new not in _NEXT[self._state]:
                return False
            self._untold.append((new, self._state))
            self._state, self._error = new, error
            self._changed.notify_all()
            if self._teller is not None:
                # It tells this one, too. Waiting for it could mean to wait for oneself.
                return True
            self._teller = threading.get_ident()
        self._tell()
        return True

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end, and until the listeners know of it; False where the time passed before."""
        with self._changed:
            return self._changed.wait_for(self._has_ended, timeout)

    def _has_ended(self) -> bool:
        # A listener that waits must not wait for its own return.
        return not _NEXT[self._state] and self._teller in (None, threading.get_ident())

    def _tell(self) -> None:
        while True:
            with self._changed:
                if not self._untold:
                    self._teller = None
                    self._changed.notify_all()
                    return
                new, old = self._untold.popleft()
                listeners = list(self._listeners)
            for listener in listeners:
                try:
                    listener(new, old)
                except Exception:
                    logger.exception("a listener failed on the state %s", new)
