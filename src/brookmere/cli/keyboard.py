"""Turns the terminal into a source of single keys, and back."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def pressed_keys() -> Iterator[Callable[[], bool]]:
    """Give a function that tells whether a key was pressed since the last call; never without a terminal."""
    if not sys.stdin.isatty():
        yield lambda: False
        return
    handle = sys.stdin.fileno()
    before = termios.tcgetattr(handle)

    def is_pressed() -> bool:
        if not select.select([handle], [], [], 0)[0]:
            return False
        os.read(handle, 1024)
        return True

    try:
        # Ctrl-C stays what it is.
        tty.setcbreak(handle)
        yield is_pressed
    finally:
        termios.tcsetattr(handle, termios.TCSADRAIN, before)
