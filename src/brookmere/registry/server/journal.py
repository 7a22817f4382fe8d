"""The journal of a registry: events as lines of a file, replayed at the start."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import time
from pathlib import Path
from typing import Any

from brookmere.errors import RegistryError
from brookmere.registry.server.subjects import Event, State

log = logging.getLogger(__name__)

_FILE = "schemas.jsonl"
_LOCK = "lock"
_PATIENCE_SECONDS = 1.0


class Journal:
    """The events of a registry in a directory, owned by one process at a time.

    An event counts once its line is on disk. A line cut off by a crash was never acknowledged, and is
    removed when the file is opened again.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.path = directory / _FILE
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(directory / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as failure:
            raise _refused(directory, failure) from failure
        try:
            self._acquire()
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except BaseException:
            os.close(self._lock)
            raise
        self.state = State()
        try:
            self._end = self._replay()
        except BaseException:
            self.close()
            raise

    def append(self, event: Event) -> None:
        """Write an event and wait until it is on disk; after a failure nothing of it remains."""
        line = json.dumps(event, separators=(",", ":")).encode() + b"\n"
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[os.write(self._file, rest) :]
            os.fsync(self._file)
        except OSError as failure:
            os.ftruncate(self._file, self._end)
            raise _refused(self.directory, failure) from failure
        self._end += len(line)

    def close(self) -> None:
        """Release the directory."""
        os.close(self._file)
        os.close(self._lock)

    def _acquire(self) -> None:
        # A process that checks whether the directory is in use also holds the lock for a moment.
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not _try_lock(self._lock):
            if time.monotonic() < deadline:
                time.sleep(0.01)
                continue
            raise RegistryError(
                f"The directory {self.directory} belongs to a running schema registry. "
                "Found: its lock is held. "
                "Use that registry, stop it with `brookmere registry down`, or choose another directory."
            )

    def _replay(self) -> int:
        with self.path.open("rb") as file:
            data = file.read()
        end = data.rfind(b"\n") + 1
        if end < len(data):
            log.warning("%s: removed %d bytes of a change that a crash cut off", self.path, len(data) - end)
            os.ftruncate(self._file, end)
            os.fsync(self._file)
        for number, line in enumerate(data[:end].splitlines(), start=1):
            try:
                self.state.apply(_event(line))
            except (ValueError, KeyError, TypeError) as problem:
                raise RegistryError(
                    f"The file {self.path} is damaged in line {number}. Found: {line[:80]!r} ({problem}). "
                    "Restore the file from a backup, or start with another directory."
                ) from problem
        _sync(self.directory)
        return end


def is_owned(directory: Path) -> bool:
    """Return whether a running process owns the registry in a directory."""
    try:
        descriptor = os.open(directory / _LOCK, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        return not _try_lock(descriptor)
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _event(line: bytes) -> dict[str, Any]:
    event = json.loads(line)
    if not isinstance(event, dict):
        raise ValueError("it is not a JSON object")
    return event


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _refused(directory: Path, failure: OSError) -> RegistryError:
    return RegistryError(
        f"The schema registry cannot use its directory {directory}. Found: {failure.strerror or failure}. "
        "Free some space, give this user write access, or choose another directory."
    )
