"""The pages of the tutorial are worked through: files saved, commands typed, outputs compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.console_blocks import work_through

_PAGES = sorted((Path(__file__).resolve().parents[2] / "docs" / "tutorial").glob("*.md"))


@pytest.mark.slow
@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.stem)
def test_a_reader_sees_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    work_through(page, tmp_path)
