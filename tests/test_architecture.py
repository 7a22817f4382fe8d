"""ARCHITECTURE.md names what is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "ARCHITECTURE.md").read_text()
NAMED = {name for name in re.findall(r"`([^`\s]+)`", TEXT) if "/" in name or "." in name}
LINKED = set(re.findall(r"\]\(([^)#:]+)\)", TEXT))


def test_each_path_it_names_exists() -> None:
    assert len(NAMED) > 10

    missing = sorted(path for path in NAMED | LINKED if not (ROOT / path).exists())

    assert missing == []


def test_each_folder_of_the_package_is_named() -> None:
    package = ROOT / "src" / "brookmere"
    folders = {file.parent for pattern in ("*.py", "*.scala") for file in package.rglob(pattern)} - {package}

    unnamed = sorted(
        str(folder.relative_to(ROOT)) for folder in folders if f"{folder.relative_to(ROOT)}/" not in NAMED
    )

    assert unnamed == []
