"""Read a file or a pipe in large blocks of whole lines, without delaying lines that are already there."""

from __future__ import annotations

import os
import select
from collections.abc import Iterator
from typing import BinaryIO

_BLOCK_BYTES = 8 * 1024 * 1024
_PATIENCE_SECONDS = 0.05


def line_blocks(source: BinaryIO) -> Iterator[list[bytes]]:
    """Yield lines without their line ends, in blocks: when a block is large, or when the source pauses."""
    rest = b""
    for data in _blocks(source):
        data = rest + data
        end = data.rfind(b"\n") + 1
        rest = data[end:]
        if end:
            yield _lines(data[: end - 1])
    if rest:
        yield _lines(rest)


def _lines(data: bytes) -> list[bytes]:
    return data.replace(b"\r\n", b"\n").removesuffix(b"\r").split(b"\n")


def _blocks(source: BinaryIO) -> Iterator[bytes]:
    try:
        handle = source.fileno()
    except OSError:
        # Not a real file, so reading from it does not wait.
        yield from iter(lambda: source.read(_BLOCK_BYTES), b"")
        return
    while True:
        held: list[bytes] = []
        size = 0
        # The first read may wait indefinitely; the others take only what is available.
        while not held or (size < _BLOCK_BYTES and select.select([handle], [], [], _PATIENCE_SECONDS)[0]):
            data = os.read(handle, _BLOCK_BYTES)
            if not data:
                if held:
                    yield b"".join(held)
                return
            held.append(data)
            size += len(data)
        yield b"".join(held)
