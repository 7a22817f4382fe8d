"""`brookmere check`: what a new version of a program would do with the existing state."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from brookmere.cli.options.parameters import (
    AsJson,
    Config,
    ConfigFile,
    Program,
    StateDir,
    TopicsDir,
    chosen_settings,
)
from brookmere.cli.options.settings import application
from brookmere.cli.programs.load import load
from brookmere.cli.terminal import console

if TYPE_CHECKING:
    from brookmere.run.evolution.comparison import Evolution

_REFUSED = 1


def check(
    program: Program,
    config: Config = None,
    config_file: ConfigFile = None,
    topics_dir: TopicsDir = None,
    state_dir: StateDir = None,
    as_json: AsJson = False,
) -> None:
    """Show what a program would do with the existing state.

    Nothing is started or changed, and the previous version may still be running. The exit code is 1 if `run`
    would refuse the program, and 0 otherwise.

    \b
    Examples:
      brookmere check word_count:app
      brookmere check stock_stats:app -c store.type=rocksdb --json
    """
    chosen = chosen_settings(config, topics_dir, state_dir)
    made = application(load(program), config_file, chosen)
    evolution = made.check()
    if as_json:
        _write_json(evolution)
    else:
        _write(evolution, made.application_id, made.state_directory)
    if evolution is not None and not evolution.is_possible:
        raise typer.Exit(_REFUSED)


def _write_json(evolution: Evolution | None) -> None:
    console.write_json(
        {
            "possible": evolution is None or evolution.is_possible,
            "problems": [] if evolution is None else list(evolution.problems),
            "notes": [] if evolution is None else list(evolution.notes),
            "stores": [
                {"store": f.store, "outcome": f.outcome, "details": list(f.details), "remedy": f.remedy}
                for f in (evolution.findings if evolution else ())
            ],
        }
    )


def _write(evolution: Evolution | None, name: str, directory: Path) -> None:
    if evolution is None:
        console.write(f"{name} has no state in {directory}: it would start from scratch.")
        return
    for problem in evolution.problems:
        console.write(f"refused: {problem}")
    if evolution.findings:
        rows = console.table("store", "what happens")
        for finding in evolution.findings:
            rows.add_row(finding.store, str(finding))
        console.write_table(rows)
    elif not evolution.problems:
        console.write(f"{name} has no stores, and its previous version had none.")
    for note in evolution.notes:
        console.write(f"note: {note}")
    for remedy in dict.fromkeys(f.remedy for f in evolution.refusals):
        console.write(remedy)
