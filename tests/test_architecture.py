"""ARCHITECTURE.md names what is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "brookmere"
TEXT = (ROOT / "ARCHITECTURE.md").read_text()
NAMED = {name for name in re.findall(r"`([^`\s]+)`", TEXT) if re.search(r"/|\.(py|scala|md|toml|txt)$", name)}
LINKED = set(re.findall(r"\]\(([^)#:]+)\)", TEXT))


def test_each_path_it_names_exists() -> None:
    assert len(NAMED) > 10

    missing = sorted(
        path for path in NAMED | LINKED if not any((base / path).exists() for base in (ROOT, PACKAGE))
    )

    assert missing == []


def test_each_folder_of_the_package_is_named() -> None:
    folders = {file.parent for pattern in ("*.py", "*.scala") for file in PACKAGE.rglob(pattern)} - {PACKAGE}
    named = {name.removeprefix("src/brookmere/") for name in NAMED}

    unnamed = sorted(
        f"{folder.relative_to(PACKAGE)}/"
        for folder in folders
        if f"{folder.relative_to(PACKAGE)}/" not in named
    )

    assert unnamed == []
