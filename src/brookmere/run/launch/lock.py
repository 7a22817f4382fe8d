"""Locks a state directory, so that only one instance of an application runs on it."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from brookmere.errors import InstanceError, StateError

_FILE = "lock"
# The operating system's lock excludes only other processes, so this process keeps a list of its own.
_locked: set[Path] = set()
_locked_guard = threading.Lock()


@dataclass(frozen=True, slots=True)
class DirectoryLock:
    """The lock on a state directory; the operating system releases it when the process ends or dies."""

    directory: Path
    _file: TextIO

    def release(self) -> None:
        """Unlock the directory; a second call changes nothing."""
        with _locked_guard:
            self._file.close()
            _locked.discard(self.directory)


def lock_directory(directory: Path, application: str) -> DirectoryLock:
    """Create `directory` if needed, and let only this process run `application` on it.

    Raises:
        StateError: the directory cannot be written.
        InstanceError: the application already runs there; the error says in which process.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        place = directory.resolve()
        with _locked_guard:
            if place in _locked:
                # The file must not be opened here: closing it would release the lock.
                raise InstanceError(_running(application, place, f"in this process (pid {os.getpid()})"))
            file = _lock_file(place, application)
            _locked.add(place)
    except OSError as error:
        raise StateError(
            f"The application {application!r} cannot write its state to {directory}. "
            f"Found: {error.strerror or error}. "
            "Set state.dir to a directory that this user can write to, or correct its permissions."
        ) from error
    return DirectoryLock(place, file)


def _lock_file(directory: Path, application: str) -> TextIO:
    file = (directory / _FILE).open("a+", encoding="utf-8")
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        holder = _holder(file.read())
        file.close()
        raise InstanceError(_running(application, directory, holder)) from None
    except OSError:
        file.close()
        raise
    file.truncate(0)
    since = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    json.dump(
        {"application": application, "pid": os.getpid(), "host": socket.gethostname(), "since": since}, file
    )
    file.flush()
    return file


def _holder(content: str) -> str:
    try:
        found = json.loads(content)
        return f"in process {found['pid']} on {found['host']} since {found['since']}"
    except (ValueError, KeyError, TypeError):
        # The other process has not written yet who it is.
        return "in another process"


def _running(application: str, directory: Path, where: str) -> str:
    return (
        f"The application {application!r} is already running on the state directory {directory}. "
        f"Found: it runs {where}. "
        "Stop it first, or run this one under another application.id or with another state.dir."
    )
