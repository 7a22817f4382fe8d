"""The reference lists all settings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from brookmere.config import table

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "configuration.md"
HEAD = "| setting | values | default | what it does |\n|---|---|---|---|\n"


def test_page_has_the_table_of_settings(request: pytest.FixtureRequest) -> None:
    rows = [f"| `{row.name}` | {row.kind.words} | {row.default} | {row.does} |\n" for row in table()]
    text = PAGE.read_text()
    table_of_page = re.compile(rf"(?<={re.escape(HEAD)}).*?\n(?=\n)", re.DOTALL)

    if request.config.getoption("--refresh"):
        text = table_of_page.sub(lambda _: "".join(rows), text)
        PAGE.write_text(text)

    assert table_of_page.findall(text) == ["".join(rows)]
