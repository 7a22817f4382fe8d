"""Follows changelogs into files, in a process that may be killed at any time."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

import brookmere as bm
from brookmere.state import Replica
from brookmere.state.description.described import stores_from_json


def main(topics: str, directory: str, stores: str) -> None:
    """Follow the stores and say so, until the test ends or kills the process."""
    replica = Replica("chaos", stores_from_json(stores), bm.Topics(Path(topics)), Path(directory))
    replica.start()
    sys.stdout.write("following\n")
    sys.stdout.flush()


def _end_with_parent() -> None:
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    ending = threading.Thread(target=_end_with_parent)
    ending.start()
    main(*sys.argv[1:])
    ending.join()
