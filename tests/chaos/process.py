"""The process of a victim: started, followed, stopped, killed."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import pytest

_ROOT = Path(__file__).resolve().parents[2]
_DEADLINE = 300.0
"""Seconds after which a process that neither runs nor ends is given up."""


class Victim:
    """A process that runs programs as the leader of a group with its JVM; the whole group ends with it."""

    def __init__(
        self,
        output: Path,
        programs: Mapping[str, Mapping[str, Any]],
        prefix: str = "",
        *,
        stores: bool = False,
    ) -> None:
        self._output = output
        arguments = json.dumps({"prefix": prefix, "programs": programs, "stores": stores}, default=str)
        with output.open("a") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.chaos.victim", arguments],
                cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
                start_new_session=True,
            )  # fmt: skip
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()

    def kill(self) -> None:
        """End it as a power cut would."""
        self.signal(signal.SIGKILL)
        self._process.wait()
        self._reader.join()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the whole group."""
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            return

    def workers(self) -> list[int]:
        """Return the ids of the processes that run Python code for it."""
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            try:
                session = int((place / "stat").read_text().rpartition(")")[2].split()[3])
                _, _, arguments = (place / "cmdline").read_bytes().partition(b"\0")
                if session == self._process.pid and arguments.startswith(b'-c\0"""Starts a worker'):
                    found.append(int(place.name))
            except (FileNotFoundError, ProcessLookupError):
                # It has ended while it was looked at.
                continue
        return sorted(found)

    def finish(self) -> None:
        """Let it end with its input."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write("finish\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return

    def line(self, *beginnings: str, seconds: float = _DEADLINE) -> str | None:
        """Return the next line that begins so; None if it ends before."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                pytest.fail(f"no line {beginnings} within {seconds} s; {self._last_words()}")
            if line is None:
                return None
            if line.startswith(beginnings):
                return line

    def expect(self, beginning: str) -> str:
        """Return the next line that begins so; a failure or an early end is one of the test."""
        found = self.line(beginning, "failed")
        if found is None or not found.startswith(beginning):
            pytest.fail(f"the process should have said {beginning!r}: {found}; {self._last_words()}")
        return found

    def _last_words(self) -> str:
        return f"it said:\n{self._output.read_text()[-3000:]}"

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)
