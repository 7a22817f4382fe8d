"""Find free ports on this machine."""

from __future__ import annotations

import random
import socket
from collections.abc import Collection

HOST = "127.0.0.1"

# Below the range of outgoing connections, which could take a port before Kafka does.
_RANGE = range(20_000, 32_000)


def free_port(taken: Collection[int] = ()) -> int:
    """Return a free port that is not among `taken`."""
    while True:
        port = random.choice(_RANGE)
        if port not in taken and is_free(port):
            return port


def is_free(port: int) -> bool:
    """Return whether a server could listen on a port of the loopback interface."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As servers do: recently closed connections do not block the port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
