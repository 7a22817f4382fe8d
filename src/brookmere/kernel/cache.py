"""The cache directory, which holds compiled kernels, jars and Java launchers."""

from __future__ import annotations

import fcntl
import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from brookmere.errors import EngineError


def cache_directory() -> Path:
    """Return the user's cache directory for Brookmere: `$BROOKMERE_CACHE`, else the platform's default."""
    if own := os.environ.get("BROOKMERE_CACHE"):
        return Path(own).expanduser().absolute()
    if shared := os.environ.get("XDG_CACHE_HOME"):
        return Path(shared).expanduser().absolute() / "brookmere"
    return Path.home() / ".cache" / "brookmere"


def ensure_directory(directory: Path) -> None:
    """Create a directory of the cache, with its parents, if it is missing."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        raise EngineError(
            f"The cache directory {directory} cannot be created.\n"
            f"Found: {failure}.\n"
            "Set BROOKMERE_CACHE to a writable directory."
        ) from failure


@contextmanager
def locked(path: Path, logger: logging.Logger, purpose: str) -> Iterator[None]:
    """Hold a lock between processes; the system releases it if its holder dies.

    A process that has to wait logs what the other process is doing.
    """
    ensure_directory(path.parent)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            logger.info("waiting for another process that %s", purpose)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def write_atomically(target: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Write a file so that no process ever sees it incomplete."""
    ensure_directory(target.parent)
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    unfinished = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        unfinished.chmod(mode)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
