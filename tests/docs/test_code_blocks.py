"""Every Python code block of the README and the docs runs, and its assertions hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def code_blocks(page: Path) -> Iterator[str]:
    """Cut out the blocks, each behind as many empty lines as stand before it on its page."""
    text = page.read_text()
    for block in PYTHON_BLOCK.finditer(text):
        yield "\n" * text.count("\n", 0, block.start(1)) + block[1]


PAGES = [
    page
    for page in [
        ROOT / "README.md",
        *sorted(p for p in (ROOT / "docs").rglob("*.md") if p.parent.name != "tutorial"),
    ]
    if next(code_blocks(page), None) is not None
]


def test_readme_shows_a_program() -> None:
    assert ROOT / "README.md" in PAGES


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_blocks_of_a_page_run_one_after_the_other(page: Path) -> None:
    names: dict[str, object] = {"__name__": "__page__"}

    for block in code_blocks(page):
        exec(compile(block, page, "exec", dont_inherit=True), names)
