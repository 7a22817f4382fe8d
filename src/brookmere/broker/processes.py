"""Distinguish a process from a later one with the same pid."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

# The field of /proc/PID/stat, counted after the name in parentheses: state is 0, start time 19.
_STATE, _START = 0, 19


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A process by its pid and start time."""

    pid: int
    started: str

    @property
    def alive(self) -> bool:
        """Whether exactly this process is still running."""
        return _start_time(self.pid) == self.started

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process if it is still running."""
        if self.alive:
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                return

    def wait(self, seconds: float) -> bool:
        """Wait until the process has ended; return whether it has."""
        deadline = time.monotonic() + seconds
        while self.alive:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True


def identify(pid: int) -> ProcessIdentity | None:
    """Return the identity of a running process; None if there is no process with this pid."""
    started = _start_time(pid)
    return None if started is None else ProcessIdentity(pid, started)


def _start_time(pid: int) -> str | None:
    if Path("/proc/self/stat").exists():
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return None
        fields = stat.rpartition(")")[2].split()
        # A process that has ended is listed until its parent collects its exit code.
        return None if fields[_STATE] in "ZX" else fields[_START]
    shown = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout.strip()
    return None if not shown or shown.startswith("Z") else shown.partition(" ")[2].strip()
