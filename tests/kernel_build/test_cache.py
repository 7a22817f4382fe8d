"""The cache directory follows the environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from brookmere.kernel.cache import cache_directory


def test_own_variable_wins_over_the_platforms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROOKMERE_CACHE", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "shared"))

    assert cache_directory() == tmp_path / "own"


def test_platforms_variable_is_shared_with_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BROOKMERE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "shared"))

    assert cache_directory() == tmp_path / "shared" / "brookmere"


def test_default_is_below_the_home_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BROOKMERE_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))

    assert cache_directory() == tmp_path / ".cache" / "brookmere"
