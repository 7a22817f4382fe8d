"""Turns a state directory into the property of one running application."""

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
# A lock of the system excludes other processes only, so this process keeps its own list.
_held: set[Path] = set()
_held_guard = threading.Lock()


@dataclass(frozen=True, slots=True)
class Instance:
    """The right to use a state directory; the system takes it back when the process ends, however it ends."""

    directory: Path
    _file: TextIO

    def release(self) -> None:
        """Give the directory back; doing so again changes nothing."""
        with _held_guard:
            self._file.close()
            _held.discard(self.directory)


def hold(directory: Path, application: str) -> Instance:
    """Make this process the only one that runs `application` on `directory`, which is created.

    Raises:
        StateError: the directory cannot be written.
        InstanceError: the application runs there already; the error tells where.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        place = directory.resolve()
        with _held_guard:
            if place in _held:
                # Its file stays closed: closing it here would free the lock.
                raise InstanceError(_running(application, place, f"in this process (pid {os.getpid()})"))
            file = _locked(place, application)
            _held.add(place)
    except OSError as error:
        raise StateError(
            f"The application {application!r} cannot write its state to {directory}. "
            f"Found: {error.strerror or error}. "
            "Set state.dir to a directory that this user can write to, or correct its permissions."
        ) from error
    return Instance(place, file)


def _locked(directory: Path, application: str) -> TextIO:
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
        # Its process is about to write who it is.
        return "in another process"


def _running(application: str, directory: Path, where: str) -> str:
    return (
        f"The application {application!r} is running already on the state directory {directory}. "
        f"Found: it runs {where}. "
        "Stop it first, or run this one under another application.id or with another state.dir."
    )
