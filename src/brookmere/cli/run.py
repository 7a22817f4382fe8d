"""`brookmere run`: run a program until a signal, with its progress on the terminal."""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from brookmere.cli.options.parameters import Config, ConfigFile, Program, StateDir, TopicsDir, chosen_settings
from brookmere.cli.options.settings import application, place_of_topics
from brookmere.cli.options.tokens import ServeAddress, TokenFile
from brookmere.cli.programs.load import find
from brookmere.cli.programs.supervise import supervise
from brookmere.cli.replica.server_options import announce, prepared
from brookmere.cli.terminal import console
from brookmere.cli.terminal.progress import JsonView, LiveView, PlainView, View

if TYPE_CHECKING:
    from brookmere.run.application import Application


def run(
    program: Program,
    config: Config = None,
    config_file: ConfigFile = None,
    topics_dir: TopicsDir = None,
    state_dir: StateDir = None,
    master: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Spark's master; by default all cores of this machine.",
            show_default=False,
        ),
    ] = None,
    jars: Annotated[
        Path | None,
        typer.Option(
            "--jars",
            metavar="DIR",
            help="A directory with the Java libraries for Kafka, so that nothing is downloaded.",
            show_default=False,
        ),
    ] = None,
    create_topics: Annotated[
        bool, typer.Option("--create-topics", help="Create missing input topics.")
    ] = False,
    partitions: Annotated[
        int | None,
        typer.Option(
            "--partitions",
            "-p",
            min=1,
            metavar="N",
            help="The number of partitions of topics that are created.",
            show_default=False,
        ),
    ] = None,
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="Stop once all available records are processed.")
    ] = False,
    serve: ServeAddress = None,
    token_file: TokenFile = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    json_progress: Annotated[
        bool, typer.Option("--json-progress", help="Print the progress of each batch as a line of JSON.")
    ] = False,
) -> None:
    """Run a program on its topics until Ctrl-C.

    The first Ctrl-C, or SIGTERM, finishes the current batch and stops with exit code 0; the next run resumes
    from there. A second Ctrl-C stops immediately with exit code 130, and the next run repeats that batch. A
    program that fails exits with code 1. Options override -c, and -c overrides the file. --serve serves
    queries of the stores over HTTP, and the `routes` of the program's module: a FastAPI router or
    a list of them.

    \b
    Examples:
      brookmere run examples/word_count.py --create-topics
      brookmere run stock_stats:app -c commit.interval.ms=500 --config app.properties
      brookmere run word_count:app --until-idle --quiet
      brookmere run examples/leaderboard.py --serve 127.0.0.1:7000
      brookmere run word_count:app -c bootstrap.servers=127.0.0.1:9092
    """
    found = find(program)
    chosen = {
        **chosen_settings(config, topics_dir, state_dir),
        **({} if master is None else {"spark.master": master}),
        **({} if jars is None else {"jars.dir": str(jars)}),
        **({"auto.create.topics": "true"} if create_topics else {}),
        **({} if partitions is None else {"default.partitions": str(partitions)}),
    }
    made = application(found.program, config_file, chosen)
    # Downloads, compilation and migrations of the state take long enough to be worth a line.
    for name in ("brookmere.jars", "brookmere.kernel.build", "brookmere.run.evolution"):
        logging.getLogger(name).setLevel(logging.INFO)
    serving = None if serve is None else prepared(serve, token_file, found)

    def served() -> AbstractContextManager[object]:
        if serving is None:
            return nullcontext()
        server = serving.application(made)
        if not quiet:
            announce(server, made.application_id)
        return server

    view = _view(made, quiet=quiet, as_json=json_progress)
    supervise(made, view, until_idle=until_idle, serving=served)


def _view(made: Application, *, quiet: bool, as_json: bool) -> View:
    if as_json:
        return JsonView()
    if quiet:
        return View()
    console.say(f"{made.application_id}: {place_of_topics(made.config)}; press Ctrl-C to stop.")
    kind = LiveView if console.err.is_terminal else PlainView
    return kind(made.application_id)
