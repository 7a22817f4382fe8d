"""Docs, docstrings, comments and messages are in plain English: no words that read as translated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs" / "reference").glob("*.md")),
    *sorted((ROOT / "docs" / "tutorial").glob("*.md")),
    *sorted((ROOT / "src").rglob("*.py")),
    *sorted((ROOT / "src").rglob("*.scala")),
    *sorted((ROOT / "examples").glob("*.py")),
]
# What to write instead.
WORDS = {
    r"\banew\b": "again, or from scratch",
    r"\bin the midst\b": "in the middle",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\bput(s|ting)? down\b": "write",
    r"\b(is|are|was) told\b": "is reported, shown or returned",
    r"\bbeside\b": "next to, alongside or in addition to",
    r'^\s*"""Tells? whether\b': "Return whether",
    r'^"""Turns \S': "say what the module is for",
    r"\bgoes on where it\b": "resumes",
    r"\bwhere it stood\b": "from the last commit",
}


def _found(page: Path) -> Iterator[str]:
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        for pattern, instead in WORDS.items():
            if match := re.search(pattern, line, re.IGNORECASE):
                yield f"{page.relative_to(ROOT)}:{number}: {match[0].strip()!r}: write {instead}"


def test_words_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("It begins anew.\nIt starts from scratch.\n")

    assert list(_found(page)) == ["page.md:1: 'anew': write again, or from scratch"]


def test_prose_is_plain_english() -> None:
    assert [line for page in PAGES for line in _found(page)] == []
