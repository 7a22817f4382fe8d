"""The pinned checksums and sizes of jars."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import file_digest
from pathlib import Path

from brookmere.jars.sets import Library

_FILE = Path(__file__).with_name("sha256.txt")


@dataclass(frozen=True, slots=True)
class Pin:
    """The expected checksum and size of a jar."""

    sha256: str
    size: int


def pin(library: Library) -> Pin | None:
    """Return the pin of a library; None for a version that is not pinned."""
    return _pins().get(library.coordinates)


def checksum(jar: Path) -> str:
    """Return the SHA-256 of a file."""
    with jar.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


@cache
def _pins() -> dict[str, Pin]:
    found = {}
    for line in _FILE.read_text().splitlines():
        if line and not line.startswith("#"):
            sha256, size, coordinates = line.split()
            found[coordinates] = Pin(sha256, int(size))
    return found
