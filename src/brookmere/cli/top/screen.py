"""The display loop of `brookmere top`: a live screen, a single print, or lines of JSON."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import asdict

from rich.console import Group
from rich.live import Live
from rich.text import Text

from brookmere.cli.programs.supervise import stop_signals
from brookmere.cli.terminal import console
from brookmere.cli.terminal.keyboard import typed_keys
from brookmere.cli.top.panels import screen
from brookmere.cli.top.status_feed import Rates, Reader, Watched, watched
from brookmere.errors import BrookmereError

_KEY_SECONDS = 0.1
_FOOT_LINES = 2
_ENDING = (b"q", b"Q", b"\x1b")


def show(read: Reader, *, once: bool, as_json: bool, interval: float, is_here: bool) -> None:
    """Show the status, once or repeatedly."""
    first = watched(read(), is_here=is_here)
    if as_json:
        _lines(read, first, once=once, interval=interval, is_here=is_here)
    elif once or not console.out.is_terminal:
        console.write_table(screen(first, {}, None))
    else:
        _live(read, first, interval=interval, is_here=is_here)


def _lines(read: Reader, seen: Watched, *, once: bool, interval: float, is_here: bool) -> None:
    shown = None
    with stop_signals() as stop_requested:
        while True:
            line = json.dumps({"is_running": seen.is_running, **asdict(seen.status)}, ensure_ascii=False)
            if line != shown:
                console.write(line)
                console.out.file.flush()
                shown = line
            if once or stop_requested.wait(interval):
                return
            seen = _again(read, seen, is_here=is_here)


def _live(read: Reader, seen: Watched, *, interval: float, is_here: bool) -> None:
    rates = Rates()
    with (
        stop_signals() as stop_requested,
        typed_keys() as typed,
        Live(console=console.out, screen=True, auto_refresh=False) as live,
    ):
        while not stop_requested.is_set():
            shown = screen(seen, rates.follow(seen.status), console.out.height - _FOOT_LINES)
            live.update(Group(shown, Text(""), Text("press q to quit", style="dim")), refresh=True)
            if _user_quits(stop_requested, typed, interval):
                return
            seen = _again(read, seen, is_here=is_here)


def _user_quits(stop_requested: threading.Event, typed: Callable[[], bytes], interval: float) -> bool:
    """Wait for the next refresh; return True if the user quits meanwhile."""
    deadline = time.monotonic() + interval
    while (left := deadline - time.monotonic()) > 0:
        if stop_requested.wait(min(left, _KEY_SECONDS)) or typed() in _ENDING:
            return True
    return False


def _again(read: Reader, before: Watched, *, is_here: bool) -> Watched:
    try:
        return watched(read(), is_here=is_here)
    except BrookmereError as error:
        # The server or the file may be available again at the next refresh.
        return Watched(before.status, str(error).splitlines()[0].rstrip("."))
