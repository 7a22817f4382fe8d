"""Start the application of a demo, with a notice that it takes a while."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from brookmere.cli.programs.supervise import start
from brookmere.cli.terminal import console

if TYPE_CHECKING:
    from brookmere.run.application import Application


def start_with_notice(application: Application, stop_requested: threading.Event) -> None:
    """Start an application; a signal, which sets `stop_requested`, ends the process meanwhile."""
    begun = time.monotonic()
    words = "Starting Spark; this takes a few seconds."
    if console.out.is_terminal:
        with console.out.status(words):
            start(application, stop_requested, lambda: None)
    else:
        console.write(words)
        console.out.file.flush()
        start(application, stop_requested, lambda: None)
    console.write(f"Running after {time.monotonic() - begun:.0f} s.")
