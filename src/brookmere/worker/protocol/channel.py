"""The channel to the JVM: a message is a kind, a length, and a payload that `marshal` writes and reads."""

from __future__ import annotations

import marshal
import struct
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from typing import BinaryIO

_HEAD = struct.Struct(">ci")
_VERSION = 2
"""The last version of the format without references, so the JVM's reader need not support them."""


class Channel(Protocol):
    """Sends messages to the JVM and receives its messages."""

    def receive(self) -> tuple[str, Any] | None:
        """Return the kind and the payload of the next message; None if there is none."""
        ...

    def send(self, kind: str, payload: Any) -> None:
        """Write a message. The payload may change as soon as this returns."""
        ...


class PipeChannel:
    """A channel over two pipes."""

    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO) -> None:
        self._read = incoming.read
        self._outgoing = outgoing

    def receive(self) -> tuple[str, Any] | None:
        """Return the next message; None when the JVM has closed its end."""
        head = self._read(_HEAD.size)
        if len(head) < _HEAD.size:
            return None
        kind, length = _HEAD.unpack(head)
        payload = self._read(length)
        if len(payload) < length:
            return None
        return kind.decode("ascii"), marshal.loads(payload) if payload else None

    def send(self, kind: str, payload: Any) -> None:
        """Write a message."""
        data = encoded(payload)
        self._outgoing.write(_HEAD.pack(kind.encode("ascii"), len(data)))
        self._outgoing.write(data)
        self._outgoing.flush()


def encoded(payload: Any) -> bytes:
    """Return a payload as it goes over the wire."""
    return marshal.dumps(payload, _VERSION)
