"""The pages of the tutorial are worked through: files saved, commands typed, outputs compared.

A Python block whose first line is a comment with a file's name is saved as that file. In a console block a
line that begins with `$ ` is typed; the lines behind it are what it prints, with `...` for anything.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2]
_PAGES = sorted((_ROOT / "docs" / "tutorial").glob("*.md"))
_BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# (\S+\.py)\n")
_DEADLINE = 300


@pytest.mark.slow
@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.stem)
def test_a_reader_sees_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    for kind, text in _BLOCK.findall(page.read_text()):
        if kind == "python":
            name = _FILE.match(text)
            assert name, "a block of the tutorial names the file that it is saved as"
            (tmp_path / name[1]).write_text(text)
        else:
            for command, shown in _commands(text):
                printed = _typed(command, tmp_path)
                assert _matches(shown, printed), (
                    f"$ {command}\n{printed}\n--- but the page shows ---\n{shown}"
                )


def _commands(block: str) -> list[tuple[str, str]]:
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(command, shown.strip()) for command, _, shown in (part.partition("\n") for part in parts)]


def _typed(command: str, directory: Path) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-c", command], cwd=directory, env={**os.environ, "PATH": path}, timeout=_DEADLINE,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"$ {command}\n{done.stdout}"
    return done.stdout


def _matches(shown: str, printed: str) -> bool:
    pattern = ".*".join(re.escape(part) for part in shown.split("..."))
    return (
        re.fullmatch(f"{pattern}\\s*" if not shown.endswith("...") else pattern, printed, re.DOTALL)
        is not None
    )
