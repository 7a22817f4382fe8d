"""Durable files: written completely or not at all, even after a power failure."""

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
    """Return a unique file name; names created by one process sort by time."""
    return f"{time.time_ns():016x}{uuid.uuid4().hex[:12]}"


def write_durably(temporary: Path, data: bytes | memoryview) -> None:
    """Write a new file and wait until it is on disk; after a failure there is no file."""
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
    """Replace a file with `data` atomically; the caller still has to sync the folder."""
    temporary = path.with_name(f"{path.name}.{unique()}.tmp")
    write_durably(temporary, data)
    try:
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def sync_folder(path: Path) -> None:
    """Wait until the file names in a folder are on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_older(path: Path, moment: int) -> bool:
    """Return whether a file was last changed before a time in milliseconds; False if it no longer exists."""
    try:
        return path.stat().st_mtime * 1000 < moment
    except FileNotFoundError:
        return False


@contextmanager
def explained(what: str, place: Path) -> Iterator[None]:
    """Raise operating system errors as a TopicError; a missing file is raised unchanged."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise refused(what, place, error) from error


def refused(what: str, place: Path, error: OSError) -> TopicError:
    """Return an error that explains why the operating system refused something, and what to do."""
    return TopicError(f"{what}: {_reason(error, place)}")


def _reason(error: OSError, place: Path) -> str:
    if error.errno in _NO_ROOM:
        return (
            f"the disk is full at {place} ({error.strerror}). Nothing was written and "
            "earlier records are intact. Free some space, or move the topics elsewhere, and try again."
        )
    if error.errno in _NO_PERMISSION:
        return (
            f"permission denied for {place} ({error.strerror}). "
            "Give this user read and write access, or move the topics elsewhere."
        )
    return f"{place} failed ({error.strerror or error}). Nothing was written; try again."
