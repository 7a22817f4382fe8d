"""Works through a page: saves its files, types its commands, compares what they print.

A Python block whose first line is a comment with a file's name is saved as that file. In a console block a
line that begins with `$ ` is typed; the lines behind it are what it prints, with `...` for anything.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

_BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# (\S+\.py)\n")
_DEADLINE = 300


def work_through(page: Path, directory: Path) -> None:
    """Do in `directory` what the page says."""
    for kind, text in _BLOCK.findall(page.read_text()):
        if kind == "python":
            name = _FILE.match(text)
            assert name, "a block of this page names the file that it is saved as"
            (directory / name[1]).write_text(text)
        else:
            for command, shown in _commands(text):
                printed = _typed(command, directory)
                assert _matches(shown, printed), (
                    f"$ {command}\n{printed}\n--- but the page shows ---\n{shown}"
                )


def _commands(block: str) -> list[tuple[str, str]]:
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(command, shown.strip("\n")) for command, _, shown in (part.partition("\n") for part in parts)]


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
