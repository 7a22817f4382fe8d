"""A registry in its own process: start it, find it by its directory, and stop it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from brookmere.config import home
from brookmere.errors import RegistryError
from brookmere.registry.server.journal import is_owned
from brookmere.registry.server.server import RegistryServer

LOG_FILE = "registry.log"
_STATUS_FILE = "server.json"
_START_SECONDS = 30
_STOP_SECONDS = 15
_LOG_TAIL = 2000


@dataclass(frozen=True, slots=True)
class Running:
    """A running registry: its process and its address."""

    directory: Path
    pid: int
    url: str


def default_registry_directory() -> Path:
    """Return the directory of the registry inside the home."""
    return home() / "registry"


def running(directory: Path) -> Running | None:
    """Return the registry that is running on a directory, or None."""
    # The lock is released when its process ends, however it ends, so the pid in the file is the owner's.
    if not is_owned(directory):
        return None
    try:
        fields = json.loads((directory / _STATUS_FILE).read_text())
        return Running(directory, fields["pid"], fields["url"])
    except (OSError, ValueError, KeyError):
        # It is just starting or stopping.
        return None


def run_here(directory: Path, port: int) -> None:
    """Run a registry in this process until SIGTERM or Ctrl-C."""
    server = RegistryServer(directory, port=port)

    def stop(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        _write_status(directory, server)
        with suppress(KeyboardInterrupt):
            server.serve()
    finally:
        signal.signal(signal.SIGTERM, before)
        (directory / _STATUS_FILE).unlink(missing_ok=True)
        server.close()


def start(directory: Path, port: int) -> Running:
    """Start a registry in its own process and wait until it answers."""
    directory.mkdir(parents=True, exist_ok=True)
    log_path = directory / LOG_FILE
    command = [sys.executable, "-m", "brookmere.registry", "--dir", str(directory), "--port", str(port)]
    with log_path.open("ab") as log:
        begin = log.tell()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        ended = process.poll() is not None
        found = running(directory)
        if found is not None and found.pid == process.pid:
            # It is meant to outlive this object, which would warn about that.
            process.returncode = 0
            return found
        if ended:
            raise RegistryError(_last_words(log_path, begin))
        time.sleep(0.02)
    process.kill()
    process.wait()
    raise RegistryError(
        f"The schema registry did not start within {_START_SECONDS} seconds. "
        f"Found: {_last_words(log_path, begin) or 'nothing in its log'} Check {log_path} and try again."
    )


def stop(found: Running) -> None:
    """Stop a registry and wait until its directory is free."""
    os.kill(found.pid, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_SECONDS
    while is_owned(found.directory):
        if time.monotonic() > deadline:
            raise RegistryError(
                f"The schema registry does not stop. Found: process {found.pid} is still running after "
                f"{_STOP_SECONDS} seconds. End it with `kill -9 {found.pid}`; "
                "no acknowledged change is lost."
            )
        time.sleep(0.02)


def _write_status(directory: Path, server: RegistryServer) -> None:
    temporary = directory / f"{_STATUS_FILE}.{os.getpid()}.tmp"
    temporary.write_text(json.dumps({"pid": os.getpid(), "url": server.url}))
    temporary.replace(directory / _STATUS_FILE)


def _last_words(log_path: Path, begin: int) -> str:
    with log_path.open("rb") as log:
        log.seek(begin)
        return log.read()[-_LOG_TAIL:].decode(errors="replace").strip()
