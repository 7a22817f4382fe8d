"""Turns a program into a running application, shows its progress, and stops it by a signal."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from brookmere.cli import console
from brookmere.cli.load import load
from brookmere.cli.parameters import Program, TopicsDir, settings
from brookmere.cli.progress_view import JsonView, LiveView, PlainView, View
from brookmere.cli.supervise import supervise
from brookmere.config import read
from brookmere.dsl.builder import StreamsBuilder
from brookmere.topology.nodes import Topology

if TYPE_CHECKING:
    from brookmere.run.application import Application


def run(
    program: Program,
    config: Annotated[
        list[str] | None,
        typer.Option(
            "-c",
            metavar="KEY=VALUE",
            help="A setting by Kafka Streams' name; may be repeated.",
            show_default=False,
        ),
    ] = None,
    config_file: Annotated[
        Path | None,
        typer.Option(
            "--config", metavar="FILE", help="A file of settings, as Java properties.", show_default=False
        ),
    ] = None,
    topics_dir: TopicsDir = None,
    state_dir: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where the state lies; by default in $BROOKMERE_HOME/state, or .brookmere/state.",
            show_default=False,
        ),
    ] = None,
    master: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Spark's master; by default this machine with all its cores.",
            show_default=False,
        ),
    ] = None,
    create_topics: Annotated[
        bool, typer.Option("--create-topics", help="Create topics that are read and missing.")
    ] = False,
    partitions: Annotated[
        int | None,
        typer.Option(
            "--partitions",
            "-p",
            min=1,
            metavar="N",
            help="How many partitions topics get that are created.",
            show_default=False,
        ),
    ] = None,
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="Stop when everything that is there has been processed.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    json_progress: Annotated[
        bool, typer.Option("--json-progress", help="Print the progress of each batch as a line of JSON.")
    ] = False,
) -> None:
    """Run a program on its topics, until Ctrl-C.

    The first Ctrl-C, or SIGTERM, finishes the batch at hand and stops with exit code 0; the next run goes on
    from there. A second Ctrl-C stops at once with exit code 130, and the next run repeats that batch. A
    program that fails ends with exit code 1. Options win over -c, and -c wins over the file.

    \b
    Examples:
      brookmere run examples/word_count.py --create-topics
      brookmere run stock_stats:app -c commit.interval.ms=500 --config app.properties
      brookmere run word_count:app --until-idle --quiet
    """
    loaded = load(program)
    chosen = {
        **settings(config or (), "-c"),
        **({} if topics_dir is None else {"topics.dir": str(topics_dir)}),
        **({} if state_dir is None else {"state.dir": str(state_dir)}),
        **({} if master is None else {"spark.master": master}),
        **({"auto.create.topics": "true"} if create_topics else {}),
        **({} if partitions is None else {"default.partitions": str(partitions)}),
    }
    application = _application(loaded, config_file, chosen)
    # Compiling takes half a minute, and is worth a line.
    logging.getLogger("brookmere.kernel.build").setLevel(logging.INFO)
    supervise(application, _view(application, quiet=quiet, as_json=json_progress), until_idle=until_idle)


def _application(
    program: StreamsBuilder | Topology, file: Path | None, chosen: dict[str, str]
) -> Application:
    # PySpark takes a second to load, which the other commands need not wait for.
    from brookmere.run.application import Application

    if file is None:
        return Application(program, chosen)
    # Checked by themselves, so that the words are about what stands in the command line.
    read(chosen)
    return Application(program, file, **{name.replace(".", "__"): value for name, value in chosen.items()})


def _view(application: Application, *, quiet: bool, as_json: bool) -> View:
    if as_json:
        return JsonView()
    if quiet:
        return View()
    console.say(f"{application.application_id}: topics in {application.config.topics_dir}; Ctrl-C stops.")
    kind = LiveView if console.err.is_terminal else PlainView
    return kind(application.application_id)
