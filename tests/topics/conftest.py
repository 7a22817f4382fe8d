"""Directories for topics, and processes that end with their test."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from brookmere.topics import Topics

MEMORY = Path("/dev/shm")

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def topics() -> Iterator[Topics]:
    """Topics, in memory where the machine has such a folder: waiting for the disk is not what is tested."""
    folder = Path(tempfile.mkdtemp(dir=MEMORY if MEMORY.is_dir() else None))
    yield Topics(folder / "topics")
    shutil.rmtree(folder)


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a Python program with arguments; whatever becomes of the test, the program ends with it."""
    running: list[subprocess.Popen[str]] = []

    def begin(program: str, *arguments: object, **options: object) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options
        )
        running.append(process)
        return process

    yield begin
    for process in running:
        process.kill()
        process.communicate()
