"""Works through a page: saves its files, types its commands, compares what they print.

A Python block whose first line is a comment with a file's name is saved as that file; where the clone has
such a file, the block must be a part of it. In a console block a line that begins with `$ ` is typed; the
lines behind it are what it prints, with `...` for anything. A command that ends in `&` runs until the page is
done; what stands behind it is waited for. `curl` asks again until it gets what stands behind it, because
what was sent to a topic takes a moment to arrive. For port 7000 another one is used, that is free.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# (\S+\.py)\n")
_DEADLINE = 300
_PATIENCE = 180


def work_through(page: Path, directory: Path) -> None:
    """Do in `directory`, which gets the examples of the clone, what the page says."""
    (directory / "examples").symlink_to(_ROOT / "examples")
    content = page.read_text().replace(":7000", f":{_free_port()}")
    with ExitStack() as running:
        for kind, text in _BLOCK.findall(content):
            if kind == "python":
                _save(text, directory)
            else:
                for command, shown in _commands(text):
                    _type(command, shown, directory, running)


def _save(block: str, directory: Path) -> None:
    name = _FILE.match(block)
    assert name, "a block of this page names the file that it is saved as"
    if (_ROOT / name[1]).exists():
        part = block.removeprefix(name[0]).strip("\n")
        assert part in (_ROOT / name[1]).read_text(), f"{name[1]} has no such part:\n{part}"
    else:
        (directory / name[1]).write_text(block)


def _type(command: str, shown: str, directory: Path, running: ExitStack) -> None:
    if command.endswith("&"):
        printed = _started(command.removesuffix("&"), shown, directory, running)
    else:
        printed = _typed(command, directory)
        deadline = time.monotonic() + _PATIENCE
        while command.startswith("curl ") and not _matches(shown, printed) and time.monotonic() < deadline:
            time.sleep(0.1)
            printed = _typed(command, directory)
    assert _matches(shown, printed), f"$ {command}\n{printed}\n--- but the page shows ---\n{shown}"


def _commands(block: str) -> list[tuple[str, str]]:
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(command, shown.strip("\n")) for command, _, shown in (part.partition("\n") for part in parts)]


def _typed(command: str, directory: Path) -> str:
    done = subprocess.run(
        ["bash", "-c", command], cwd=directory, env=_environment(), timeout=_DEADLINE,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"$ {command}\n{done.stdout}"
    return done.stdout


def _started(command: str, shown: str, directory: Path, running: ExitStack) -> str:
    said = directory / f"said-{time.monotonic_ns()}.txt"
    with said.open("wb") as output:
        process = subprocess.Popen(
            ["bash", "-c", f"exec {command}"], cwd=directory, env=_environment(),
            stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
    running.callback(process.wait, _DEADLINE)
    running.callback(process.terminate)
    deadline = time.monotonic() + _DEADLINE
    while not _matches(shown, said.read_text()) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert process.poll() is None, f"$ {command}&\n{said.read_text()}\n--- and it has ended"
    return said.read_text()


def _environment() -> dict[str, str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path}


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _matches(shown: str, printed: str) -> bool:
    pattern = ".*".join(re.escape(part) for part in shown.split("..."))
    return (
        re.fullmatch(f"{pattern}\\s*" if not shown.endswith("...") else pattern, printed, re.DOTALL)
        is not None
    )
