"""Child processes that report their progress and can be paused, with all their descendants."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from benchmarks.failures import QueryFailedError

_TICK = os.sysconf("SC_CLK_TCK")
_SHOWN_LINES = 30
_PR_SET_PDEATHSIG = 1


class Child:
    """A program in its own process, which ends when its standard input does.

    It writes `running` to its standard output when it is ready, and then `processed COUNT MILLISECONDS` after
    each batch, or whenever it is idle: how many records it has processed since its start, and when.
    A line `batch {...}` describes one of its batches in JSON. Everything else it writes, and its standard
    error, goes to the file `log`.
    """

    def __init__(
        self, name: str, command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self.name = name
        self.processed = 0
        self.processed_at = 0.0
        """When the last record was processed, in seconds since 1970."""
        self.batches: list[dict[str, float]] = []
        """What it reported about its batches."""
        self._log = log
        self._ready = threading.Event()
        self.launched = time.time()
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, **(environment or {})},
                preexec_fn=_die_with_parent,
            )
        self._reader = threading.Thread(target=self._read, name=f"output of {name}", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The process id; the process may have children."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Return whether it has reported that it is ready."""
        return self._ready.is_set()

    def check(self) -> None:
        """Raise an error if the process has ended.

        Raises:
            QueryFailedError: it has.
        """
        if self._process.poll() is not None:
            lines = self._log.read_text(errors="replace").splitlines()[-_SHOWN_LINES:]
            said = "\n".join(lines)
            raise QueryFailedError(f"{self.name} ended with {self._process.returncode}:\n{said}")

    def hold(self) -> None:
        """Pause the process and its descendants."""
        _signal(tree(self.pid), signal.SIGSTOP)

    def release(self) -> None:
        """Resume them."""
        _signal(tree(self.pid), signal.SIGCONT)

    def cpu_seconds(self) -> float:
        """Return the CPU time that it has used, including its descendants."""
        return cpu_seconds(self.pid)

    def stop(self, patience: float = 60.0) -> None:
        """Ask it to stop and wait; kill it if it does not end in time.

        Raises:
            QueryFailedError: it had to be killed, or ended with an error.
        """
        self.release()
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            code = self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self.kill()
            raise QueryFailedError(f"{self.name} did not end within {patience:.0f} s") from None
        self._reader.join(10.0)
        if code != 0:
            self.check()

    def kill(self) -> None:
        """Kill it and its descendants at once."""
        if self._process.poll() is None:
            _signal(tree(self.pid)[::-1], signal.SIGKILL)
            self._process.wait(10.0)
        if self._process.stdin is not None:
            # Unread output no longer matters.
            with suppress(BrokenPipeError):
                self._process.stdin.close()
        self._reader.join(10.0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.kill()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._log.open("ab") as log, self._process.stdout as lines:
            for line in lines:
                words = line.split()
                if words == [b"running"]:
                    self._ready.set()
                elif len(words) == 3 and words[0] == b"processed":
                    # In this order: a reader of the count may ask for its time.
                    self.processed_at = int(words[2]) / 1000
                    self.processed = int(words[1])
                elif words[:1] == [b"batch"]:
                    self.batches.append(json.loads(line.partition(b" ")[2]))
                else:
                    log.write(line)
                    log.flush()


def tree(pid: int) -> list[int]:
    """Return the ids of a process and its descendants, parents first."""
    found = [pid]
    for one in found:
        try:
            tasks = list(Path(f"/proc/{one}/task").iterdir())
            found += [int(child) for task in tasks for child in (task / "children").read_text().split()]
        except OSError:
            # It has ended in the meantime.
            continue
    return found


def cpu_seconds(pid: int) -> float:
    """Return the CPU time, user and system, of a process and its descendants, including ended ones."""
    ticks = 0
    for one in tree(pid):
        try:
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))
    return ticks / _TICK


def _signal(pids: Sequence[int], number: signal.Signals) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            # It has already ended, which is fine.
            continue


def _die_with_parent() -> None:
    """End with the benchmark, even while paused: a paused process does not see the end of its input."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
