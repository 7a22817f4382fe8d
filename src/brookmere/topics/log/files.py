"""Turns bytes into files that are there completely or not at all, also after a power failure."""

from __future__ import annotations

import errno
import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from brookmere.errors import TopicError

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_PERMISSION = (errno.EACCES, errno.EPERM, errno.EROFS)


def unique() -> str:
    """Return a name that no other file has; names of one process sort by their time."""
    return f"{time.time_ns():016x}{uuid.uuid4().hex[:12]}"


def write_durably(temporary: Path, data: bytes | memoryview) -> None:
    """Write a new file and wait until the disk has it; after a failure there is no file."""
    try:
        with temporary.open("xb", buffering=0) as file:
            rest = memoryview(data)
            while rest:
                rest = rest[file.write(rest) :]
            os.fsync(file.fileno())
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def replace_durably(path: Path, data: bytes | memoryview) -> None:
    """Put `data` in the place of a file, in one step; the folder is yet to be synced."""
    temporary = path.with_name(f"{path.name}.{unique()}.tmp")
    write_durably(temporary, data)
    try:
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def sync_folder(path: Path) -> None:
    """Wait until the disk has the names of the files in a folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_older(path: Path, moment: int) -> bool:
    """Tell whether a file was last changed before a moment in milliseconds; not if it is gone by now."""
    try:
        return path.stat().st_mtime * 1000 < moment
    except FileNotFoundError:
        return False


@contextmanager
def explained(what: str, place: Path) -> Iterator[None]:
    """Turn the operating system's refusal into a TopicError; a missing file passes as it is."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise refused(what, place, error) from error


def refused(what: str, place: Path, error: OSError) -> TopicError:
    """Return the error that says why the operating system refused something, and what to do."""
    return TopicError(f"{what}: {_reason(error, place)}")


def _reason(error: OSError, place: Path) -> str:
    if error.errno in _NO_ROOM:
        return (
            f"there is no room on the disk for {place} ({error.strerror}). Nothing of it was written and "
            "earlier records are intact. Make room, or let the topics lie elsewhere, and try again."
        )
    if error.errno in _NO_PERMISSION:
        return (
            f"there is no permission to use {place} ({error.strerror}). "
            "Give this user the right to read and write there, or let the topics lie elsewhere."
        )
    return f"{place} refused it ({error.strerror or error}). Nothing of it was written; try again."
