"""Exit codes are right, and errors are one paragraph without a stack trace."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.cli.conftest import COUNT, Run, Spawn


def test_version_is_that_of_the_package(spawn: Spawn) -> None:
    shown = spawn("--version")

    assert (shown.returncode, shown.stdout) == (0, f"brookmere {version('brookmere')}\n")


def test_package_runs_as_a_module(folder: Path) -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "brookmere", "--help"], capture_output=True, text=True, check=False
    )

    assert shown.returncode == 0
    assert "Usage: brookmere " in shown.stdout


@pytest.mark.parametrize("arguments", [["no-such-command"], ["describe"], ["describe", "a", "--no-option"]])
def test_wrong_usage_is_exit_code_2(spawn: Spawn, arguments: list[str]) -> None:
    shown = spawn(*arguments)

    assert shown.returncode == 2
    assert "Usage: brookmere" in shown.stderr


def test_failure_is_one_paragraph_and_exit_code_1(spawn: Spawn, folder: Path) -> None:
    shown = spawn("describe", "nothing:app")

    assert shown.returncode == 1
    assert shown.stdout == ""
    assert shown.stderr == (
        f"Error: There is no module 'nothing'.\nSearched in {folder} and the installed packages.\n"
        "Name a module, or a file by its path.\n"
    )


def test_stack_trace_is_shown_on_request(spawn: Spawn) -> None:
    shown = spawn("--traceback", "describe", "nothing:app")

    assert shown.returncode == 1
    assert "Traceback (most recent call last)" in shown.stderr
    assert "Error: There is no module 'nothing'." in shown.stderr


def test_unexpected_failure_says_how_to_see_more(spawn: Spawn, folder: Path) -> None:
    (folder / "clicks.py").write_text(COUNT)
    start = "import brookmere.topology.describe as d; d.describe = lambda topology: 1 / 0"

    shown = spawn("describe", "clicks:app", start=start)

    assert shown.returncode == 1
    assert shown.stderr.startswith("Error: Unexpected error: ZeroDivisionError")
    assert "brookmere --traceback" in shown.stderr
    assert "Traceback (" not in shown.stderr


def test_file_without_permission_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(target: str) -> None:
        raise PermissionError(13, "Permission denied", "/some/file")

    monkeypatch.setattr("brookmere.cli.describe.load", refuse)

    shown = run("describe", "clicks:app")

    assert shown.exit_code == 1
    assert shown.stderr.startswith("Error: /some/file cannot be accessed")


def test_interruption_is_exit_code_130(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(target: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("brookmere.cli.describe.load", interrupt)

    shown = run("describe", "clicks:app")

    assert (shown.exit_code, shown.stderr.strip()) == (130, "")


def test_closed_pipe_is_not_a_failure(folder: Path) -> None:
    many = "\n".join(f'app.stream("in{n}").to("out{n}")' for n in range(3000))
    head = "import brookmere as bm\napp = bm.StreamsBuilder('long', key=bm.Text(), value=bm.Text())\n"
    (folder / "long.py").write_text(head + many)
    command = [sys.executable, "-m", "brookmere", "describe", "long:app"]

    with (folder / "output").open("w") as output:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=output, text=True)
        assert process.stdout is not None
        first = process.stdout.readline()
        process.stdout.close()

    assert process.wait() == 0
    assert first == "Topologies:\n"
    assert (folder / "output").read_text() == ""
