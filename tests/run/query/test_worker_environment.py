"""Workers are started with little, and also from an archive of the package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import brookmere
from brookmere.run.query.worker_environment import archived

START = (Path(brookmere.__file__).parent / "worker" / "start.py").read_text()


def started(path: Path, look: str) -> str:
    """Start a worker that finds no more messages, and return what is printed at its end."""
    # What is printed before the end goes to the log.
    code = f"{START}\nprint({look}, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env={**os.environ, "PYTHONPATH": str(path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == ""
    return done.stderr


def test_a_worker_runs_from_an_archive(tmp_path: Path) -> None:
    archive = tmp_path / "worker.zip"
    archive.write_bytes(archived())

    assert archived() == archive.read_bytes()
    assert started(archive, "sys.modules['brookmere.worker.protocol.server'].__file__").startswith(
        str(archive)
    )


def test_a_worker_loads_the_package_only_when_user_code_asks_for_it() -> None:
    source = Path(brookmere.__file__).parents[1]

    assert started(source, "'brookmere.dsl' in sys.modules, 'pyarrow' in sys.modules") == "False False\n"
    assert started(source, "__import__('brookmere').Text()") == "Text()\n"
