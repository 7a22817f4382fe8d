"""The `brookmere registry` commands: a schema registry for development on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from brookmere.cli.options.parameters import AsJson, directory_option, group
from brookmere.cli.terminal import console
from brookmere.registry import RegistryClient
from brookmere.registry.server import daemon
from brookmere.registry.server.server import DEFAULT_PORT

app = group("Run a schema registry on this machine, for development.")

Directory = Annotated[
    Path | None,
    directory_option(
        "The directory of the schemas; by default $BROOKMERE_HOME/registry, or .brookmere/registry.", "--dir"
    ),
]


@app.command()
def up(
    port: Annotated[
        int,
        typer.Option(
            "--port", min=0, max=65535, metavar="PORT", help="The port on 127.0.0.1; 0 chooses a free one."
        ),
    ] = DEFAULT_PORT,
    directory: Directory = None,
    foreground: Annotated[
        bool, typer.Option("--foreground", help="Stay in the foreground until Ctrl-C.")
    ] = False,
) -> None:
    """Start a schema registry in the background.

    Waits until it is ready. It listens on this machine only and has Confluent's REST interface. Schemas are
    written to disk before they are acknowledged.

    \b
    Examples:
      brookmere registry up
      brookmere registry up --port 18081 --dir /tmp/schemas
    """
    place = _place(directory)
    found = daemon.running(place)
    if found is not None:
        _report_running(found, "is already running")
        return
    if foreground:
        console.say(f"The schema registry in {place} listens on 127.0.0.1:{port}; press Ctrl-C to stop.")
        daemon.run_here(place, port)
        return
    _report_running(daemon.start(place, port), "runs")


@app.command()
def down(directory: Directory = None) -> None:
    """Stop the schema registry; its schemas are kept.

    \b
    Example:
      brookmere registry down
    """
    place = _place(directory)
    found = daemon.running(place)
    if found is None:
        console.say(f"No schema registry is running in {place}.")
        return
    daemon.stop(found)
    console.say(f"The schema registry at {found.url} has stopped; its schemas are kept in {place}.")


@app.command()
def status(directory: Directory = None, as_json: AsJson = False) -> None:
    """Show whether the schema registry is running, and its subjects.

    The exit code is 0 even if it is not running.

    \b
    Example:
      brookmere registry status
    """
    place = _place(directory)
    found = daemon.running(place)
    if found is None:
        if as_json:
            console.write_json({"running": False, "directory": str(place)})
        else:
            console.say(f"No schema registry is running in {place}. `brookmere registry up` starts one.")
        return
    client = RegistryClient(found.url)
    latest = {subject: client.latest(subject) for subject in client.subjects()}
    if as_json:
        console.write_json(
            {
                "running": True,
                "directory": str(place),
                "url": found.url,
                "pid": found.pid,
                "subjects": {
                    subject: {"version": one.version, "id": one.id, "type": one.type}
                    for subject, one in latest.items()
                },
            }
        )
        return
    console.write(f"The schema registry is running: process {found.pid}, schemas in {place}.")
    console.write(f"schema.registry.url={found.url}\n")
    if not latest:
        console.write("It has no subjects.")
        return
    rows = console.table("SUBJECT", "TYPE", "VERSION", "ID", "COMPATIBILITY", numbers=("VERSION", "ID"))
    for subject, one in latest.items():
        rows.add_row(subject, one.type, str(one.version), str(one.id), client.compatibility(subject))
    console.write_table(rows)


def _report_running(found: daemon.Running, words: str) -> None:
    console.say(f"The schema registry {words}: process {found.pid}, schemas in {found.directory}.")
    console.write(f"schema.registry.url={found.url}")


def _place(directory: Path | None) -> Path:
    return (directory or daemon.default_registry_directory()).expanduser().absolute()
