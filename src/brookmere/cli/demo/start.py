"""Starts the application of a demo, and tells that this takes a while."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from brookmere.cli.programs.supervise import start
from brookmere.cli.terminal import console

if TYPE_CHECKING:
    from brookmere.run.application import Application


def start_telling(application: Application, asked: threading.Event) -> None:
    """Start an application; a signal, which sets `asked`, ends the process meanwhile."""
    begun = time.monotonic()
    words = "Starting Spark; this takes some seconds."
    if console.out.is_terminal:
        with console.out.status(words):
            start(application, asked, lambda: None)
    else:
        console.write(words)
        console.out.file.flush()
        start(application, asked, lambda: None)
    console.write(f"Running after {time.monotonic() - begun:.0f} s.")
