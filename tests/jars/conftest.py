"""Fixtures of the jar tests: an empty cache, and a repository on this machine."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.jars.repository import Repository


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache directory in which no jar is yet."""
    monkeypatch.setenv("BROOKMERE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "jars"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """The only repository that Ivy knows in this test; nothing is in it yet."""
    made = Repository(tmp_path / "repository")
    monkeypatch.setenv("BROOKMERE_IVY_SETTINGS", str(made.settings))
    return made


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """A network in which every way out leads to a port where nobody listens."""
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
        monkeypatch.delenv(name.upper(), raising=False)
    for name in ("no_proxy", "NO_PROXY", "BROOKMERE_IVY_SETTINGS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def without_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No Java, so that Ivy cannot be what brings a jar."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "no-java"))
    monkeypatch.setenv("PATH", str(tmp_path / "no-programs"))


@pytest.fixture
def progress(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """The lines that are logged about jars."""
    with caplog.at_level(logging.INFO, logger="brookmere.jars"):
        yield caplog
