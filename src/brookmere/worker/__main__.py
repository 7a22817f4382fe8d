"""The entry point of a worker process, which reads messages from stdin and writes them to stdout."""

from __future__ import annotations

import io
import os
import sys
import threading

from brookmere.worker.protocol.channel import PipeChannel
from brookmere.worker.protocol.server import serve

_BUFFER = 1 << 18
_LOOK_EVERY = 1.0


def main() -> None:
    """Serve the JVM that started this process."""
    channel = _taken_over()
    parent = os.getppid()
    threading.Thread(target=_end_without, args=(parent,), daemon=True).start()
    serve(channel)


def _taken_over() -> PipeChannel:
    """Use the pipes for the channel, so that what user code prints goes to the JVM's log."""
    incoming = os.fdopen(os.dup(0), "rb", buffering=_BUFFER)
    outgoing = os.fdopen(os.dup(1), "wb", buffering=_BUFFER)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    return PipeChannel(incoming, outgoing)


def _end_without(parent: int) -> None:
    """Exit when the JVM is gone, even if user code never returns from a call."""
    look = threading.Event()
    while os.getppid() == parent:
        look.wait(_LOOK_EVERY)
    os._exit(1)


if __name__ == "__main__":
    main()
