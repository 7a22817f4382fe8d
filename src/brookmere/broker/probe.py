"""Ask a Kafka which of its brokers are ready, in a few bytes of its protocol."""

from __future__ import annotations

import socket
import struct

from brookmere.broker.ports import HOST

# A Metadata request, version 1, for no topic: the response lists the brokers that are not fenced.
_REQUEST = struct.pack(">hhih", 3, 1, 1, 9) + b"brookmere" + struct.pack(">i", 0)
_LENGTH = struct.Struct(">i")


def brokers_seen_by(port: int, timeout: float = 2.0) -> set[int]:
    """Return the ids of the ready brokers, as seen by the one on this port; none if it does not respond."""
    try:
        with socket.create_connection((HOST, port), timeout=timeout) as connection:
            connection.sendall(_LENGTH.pack(len(_REQUEST)) + _REQUEST)
            (length,) = _LENGTH.unpack(_receive(connection, 4))
            return _broker_ids(_receive(connection, length))
    except (OSError, struct.error):
        return set()


def _receive(connection: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        part = connection.recv(count - len(found))
        if not part:
            raise ConnectionResetError("the response ended early")
        found += part
    return found


def _broker_ids(response: bytes) -> set[int]:
    (count,) = struct.unpack_from(">i", response, 4)
    ids, place = set(), 8
    for _ in range(count):
        node, host = struct.unpack_from(">ih", response, place)
        (rack,) = struct.unpack_from(">h", response, place + 6 + host + 4)
        place += 6 + host + 4 + 2 + max(rack, 0)
        ids.add(node)
    return ids
