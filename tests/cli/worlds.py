"""An application that has run, as other processes see it: its topics and its description of the stores."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import brookmere as bm
from brookmere.state import StoreInfo
from brookmere.state.description.store_file import write_stores

ID = "clicks"
START = 1_700_000_040_000
"""When the first window starts."""
MINUTE = 60_000
HOUR = 3_600_000
INFOS = (
    StoreInfo("counts", "key_value", "clicks-counts-changelog", bm.Text(), bm.Long()),
    StoreInfo("per-minute", "window", "clicks-per-minute-changelog", bm.Int(), bm.Long(), MINUTE, HOUR),
    StoreInfo("visits", "session", "clicks-visits-changelog", bm.Text(), bm.Long(), retention_ms=HOUR),
    StoreInfo(
        "prices", "versioned", "prices", bm.Text(), bm.Double(), retention_ms=HOUR, is_source=True
    ),
)  # fmt: skip
DEADLINE_SECONDS = 180.0


@dataclass(frozen=True, slots=True)
class World:
    """A working directory with topics and state."""

    folder: Path

    @property
    def topics(self) -> bm.Topics:
        return bm.Topics(self.folder / ".brookmere" / "topics")

    @property
    def state(self) -> Path:
        return self.folder / ".brookmere" / "state" / ID

    def describe(self, *stores: StoreInfo) -> None:
        """Write what the application would write about its stores."""
        self.state.mkdir(parents=True, exist_ok=True)
        write_stores(self.state, stores or INFOS)

    def send(self, topic: str, key: bm.Serde, value: bm.Serde, *rows: tuple[Any, Any, int]) -> None:
        """Append rows of key, value and time."""
        self.topics.create(topic, 2, exist_ok=True)
        with self.topics.producer(topic, key=key, value=value) as producer:
            for found, content, timestamp in rows:
                producer.send(found, content, timestamp=timestamp)

    def count(self, **counts: int | None) -> None:
        """Append to the changelog of the counts."""
        rows = [(key, value, START) for key, value in counts.items()]
        self.send("clicks-counts-changelog", bm.Text(), bm.Long(), *rows)

    def fill(self) -> None:
        """Give every store some rows."""
        self.describe()
        self.count(ada=3, bob=1, carl=7)
        of_minutes = bm.Windowed(bm.Int(), size=timedelta(minutes=1))
        windows = [
            (bm.WindowedKey(page, START + n * MINUTE, START + (n + 1) * MINUTE), 10 * page + n, START)
            for page in (1, 2)
            for n in range(3)
        ]
        self.send("clicks-per-minute-changelog", of_minutes, bm.Long(), *windows)
        sessions = [(bm.WindowedKey("ada", START + n, START + n + 5), n, START + n) for n in (0, 100)]
        self.send("clicks-visits-changelog", bm.Windowed(bm.Text(), session=True), bm.Long(), *sessions)
        self.send(
            "prices", bm.Text(), bm.Double(), ("tea", 2.5, START), ("tea", 3.0, START + 1000)
        )  # fmt: skip


@contextmanager
def started(folder: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], Callable[[], str]]]:
    """Run a command in the background; give the process, and what reads all that it has said so far."""
    said = folder / f"said-{time.monotonic_ns()}.txt"
    with said.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "brookmere", *arguments],
            cwd=folder, stdout=output, stderr=subprocess.STDOUT, text=True, env={**os.environ},
        )  # fmt: skip
    try:
        yield process, said.read_text
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def wait_for(
    condition: Callable[[], object], process: subprocess.Popen[str], said: Callable[[], str]
) -> None:
    """Wait until something is so, while the process runs."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert process.poll() is None, said()
        assert time.monotonic() < deadline, said()
        time.sleep(0.02)


def interrupt(process: subprocess.Popen[str]) -> int:
    """Press Ctrl-C, and return the exit code."""
    process.send_signal(signal.SIGINT)
    return process.wait(DEADLINE_SECONDS)
