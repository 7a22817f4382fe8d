"""docs/reference/cli.md lists exactly the existing commands and options, and its examples work."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from brookmere.cli.main import app
from tests.docs.console_blocks import work_through

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "cli.md"
HELP = {"-h", "--help"}


def real_options(command: Any) -> set[str]:
    return {name for parameter in command.params for name in parameter.opts if name.startswith("-")} - HELP


def real_commands() -> dict[str, set[str]]:
    root: Any = get_command(app)
    found = {"brookmere": real_options(root)}
    for name, command in root.commands.items():
        for inner, inner_command in getattr(command, "commands", {"": command}).items():
            found[f"brookmere {name} {inner}".strip()] = real_options(inner_command)
    return found


def groups() -> set[str]:
    """Return the commands that only hold others."""
    root: Any = get_command(app)
    return {f"brookmere {name}" for name, command in root.commands.items() if hasattr(command, "commands")}


def documented_commands() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for title, text in re.findall(r"^##+ (.+?)\n(.*?)(?=^##|\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL):
        name = (
            "brookmere"
            if title == "For all commands"
            else " ".join(re.findall(r"^brookmere(?: [a-z]+)*", title))
        )
        first_cells = [row.split("|")[1] for row in text.splitlines() if row.startswith("| `-")]
        if name and (first_cells or name not in groups()):
            found[name] = {option for cell in first_cells for option in re.findall(r"`(--?[a-z-]+)`", cell)}
    return found


def test_every_command_is_documented_and_every_documented_one_exists() -> None:
    assert set(documented_commands()) == set(real_commands())


@pytest.mark.parametrize("command", real_commands())
def test_options_are_the_documented_ones(command: str) -> None:
    assert documented_commands()[command] == real_commands()[command]


def test_table_of_commands_is_complete() -> None:
    listed = set(re.findall(r"^\| `brookmere ([a-z]+)` \|", PAGE.read_text(), re.MULTILINE))

    assert listed == set(get_command(app).commands)  # type: ignore[attr-defined]


@pytest.mark.parametrize("command", real_commands())
def test_help_of_each_command_has_an_example(command: str) -> None:
    found: Any = get_command(app)
    for name in command.split()[1:]:
        found = found.commands[name]

    assert f"  {command} " in f"{found.help} " or command == "brookmere"


def test_commands_of_the_page_print_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BROOKMERE_HOME", raising=False)

    work_through(PAGE, tmp_path)
