"""The commands of the page on resets print what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.console_blocks import work_through

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "reset.md"


def test_commands_of_the_page_print_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BROOKMERE_HOME", raising=False)

    work_through(PAGE, tmp_path)
