"""Single key presses from the terminal."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def typed_keys() -> Iterator[Callable[[], bytes]]:
    """Yield a function that returns the keys typed since the last call; none without a terminal."""
    if not sys.stdin.isatty():
        yield lambda: b""
        return
    handle = sys.stdin.fileno()
    before = termios.tcgetattr(handle)

    def typed() -> bytes:
        return os.read(handle, 1024) if select.select([handle], [], [], 0)[0] else b""

    try:
        # Ctrl-C still sends its signal.
        tty.setcbreak(handle)
        yield typed
    finally:
        termios.tcsetattr(handle, termios.TCSADRAIN, before)


@contextmanager
def pressed_keys() -> Iterator[Callable[[], bool]]:
    """Yield a function that says whether a key was pressed since the last call; never without a terminal."""
    with typed_keys() as typed:
        yield lambda: bool(typed())
