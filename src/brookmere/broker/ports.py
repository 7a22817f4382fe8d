"""Finds ports of this machine that nobody uses."""

from __future__ import annotations

import random
import socket
from collections.abc import Collection

HOST = "127.0.0.1"

# Below the ports that systems give to outgoing connections, which could take one before Kafka has it.
_RANGE = range(20_000, 32_000)


def free_port(taken: Collection[int] = ()) -> int:
    """Return a port that nobody listens on and that is not among `taken`."""
    while True:
        port = random.choice(_RANGE)
        if port not in taken and is_free(port):
            return port


def is_free(port: int) -> bool:
    """Tell whether a server could listen on a port of the loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As servers do it: connections that ended a moment ago do not keep the port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
