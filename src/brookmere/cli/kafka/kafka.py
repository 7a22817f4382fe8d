"""Turns the commands on the development broker into a running Kafka, its end, and what is known of it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from brookmere.broker import Broker, BrokerStatus
from brookmere.cli.options.command_group import group
from brookmere.cli.options.parameters import AsJson, directory_option
from brookmere.cli.terminal import console
from brookmere.config import home
from brookmere.errors import CommandError
from brookmere.jars import KAFKA_VERSION, SETS, cached, collect
from brookmere.names import nearest

_PORT = 9092
_PURPOSES = {
    "kafka-clients": "programs that run on Kafka",
    "kafka-broker": "brookmere kafka up, and Kafka's own tools",
    "kafka-streams": "comparisons with Kafka Streams",
    "spark-kafka": "comparisons with Spark's own connector",
}
_NEEDED = ("kafka-clients", "kafka-broker")

app = group("Start, stop and look at a real Kafka on this machine, for development.")

Directory = Annotated[
    Path | None,
    directory_option(
        "Where it keeps its data; by default in $BROOKMERE_HOME/kafka, or .brookmere/kafka.", "--dir"
    ),
]


@app.command()
def up(
    brokers: Annotated[
        int | None,
        typer.Option(
            "--brokers", min=1, max=9, metavar="N", help="How many brokers a new Kafka gets; 1 by default.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port", min=0, max=65_000, metavar="PORT",
            help="The port of the first broker, the others take the next ones; 0 takes free ones. "
            f"By default those of the last time, else from {_PORT} on.",
            show_default=False,
        ),
    ] = None,
    directory: Directory = None,
    jars: Annotated[
        Path | None,
        typer.Option(
            "--jars", metavar="DIR", help="Take Kafka's jars from DIR and download nothing.",
            show_default=False,
        ),
    ] = None,
) -> None:  # fmt: skip
    """Start Kafka and wait until it is ready; it runs on when the command has ended.

    It listens on this machine only. Its topics are kept for the next time. The first start ever downloads
    Kafka.

    \b
    Examples:
      brookmere kafka up
      brookmere kafka up --brokers 3 --port 19092 --dir /tmp/kafka
    """
    place = _place(directory)
    chosen = port if port is not None or Broker(place).made else _PORT
    broker = Broker(place, brokers, chosen, jars=jars)
    started = broker.start()
    status = broker.status()
    if not started and port and port != status.nodes[0].port:
        console.say(f"It listens on port {status.nodes[0].port} until it is stopped.", style="yellow")
    _tell_running(status, "is running" if started else "is running already", directory)


@app.command()
def down(directory: Directory = None) -> None:
    """Stop Kafka; its topics stay.

    \b
    Example:
      brookmere kafka down
    """
    place = _place(directory)
    stopped = Broker(place).stop()
    console.say(f"Kafka has stopped; its data stays in {place}." if stopped else f"No Kafka runs in {place}.")


@app.command()
def status(directory: Directory = None, as_json: AsJson = False) -> None:
    """Show whether Kafka runs, where it listens and how much it holds.

    The exit code is 0, also when it does not run.

    \b
    Example:
      brookmere kafka status
    """
    place = _place(directory)
    broker = Broker(place)
    if not broker.made:
        if as_json:
            console.write_json({"directory": str(place), "state": "none", "nodes": []})
        else:
            console.say(f"There is no Kafka in {place}. `brookmere kafka up` makes one.")
        return
    found = broker.status()
    if as_json:
        console.write_json(_as_json(found))
        return
    held = console.size(sum(node.bytes for node in found.nodes))
    console.write(f"Kafka {found.version} in {found.directory}: {found.state}, {held}")
    console.write(f"bootstrap.servers={found.bootstrap_servers}\n")
    numbers = ("BROKER", "PORT", "PID", "SIZE")
    rows = console.table("BROKER", "STATE", "PORT", "PID", "SIZE", "LOG", numbers=numbers)
    for node in found.nodes:
        pid = "-" if node.pid is None else f"{node.pid}"
        rows.add_row(f"{node.id}", node.state, f"{node.port}", pid, console.size(node.bytes), f"{node.log}")
    console.write_table(rows)


@app.command()
def jars(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SET", help=f"Sets of jars; by default {', '.join(_NEEDED)}.", show_default=False
        ),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="DIR", help="Fetch the jars and copy them to DIR.", show_default=False),
    ] = None,
) -> None:
    """List the jars for Kafka, or fetch them for a machine that cannot.

    On that machine `--jars DIR`, or the setting jars.dir, names the directory.

    \b
    Examples:
      brookmere kafka jars
      brookmere kafka jars --to brookmere-jars
    """
    for name in names or ():
        if name not in SETS:
            guess = nearest(name, SETS)
            raise CommandError(
                f"There is no set of jars {name!r}.\nFound: {', '.join(SETS)}.\n"
                + (f"Did you mean {guess!r}?" if guess else "Name one of those.")
            )
    if to is not None:
        made = collect(names or _NEEDED, to)
        total = console.size(sum(jar.stat().st_size for jar in made))
        verb = "is" if len(made) == 1 else "are"
        console.say(f"{console.counted(len(made), 'jar')} ({total}) {verb} in {to}.")
        console.say(f"There: brookmere kafka up --jars {to}, or brookmere run ... -c jars.dir={to}")
        return
    rows = console.table("SET", "JARS", "IN THE CACHE", "FOR", numbers=("JARS",))
    for name in names or SETS:
        count = len(SETS[name][-1].libraries)
        rows.add_row(name, f"{count}", "no" if cached(name) is None else "yes", _PURPOSES[name])
    console.write_table(rows)


def _place(directory: Path | None) -> Path:
    return (home() / "kafka" if directory is None else directory).absolute()


def _tell_running(status: BrokerStatus, words: str, directory: Path | None) -> None:
    count = console.counted(len(status.nodes), "broker")
    servers = f"bootstrap.servers={status.bootstrap_servers}"
    console.say(f"Kafka {KAFKA_VERSION} {words}: {count}, data in {status.directory}.")
    console.write(servers)
    console.say("\nTry next:")
    for line in (
        f"brookmere topics create lines --bootstrap-server {status.bootstrap_servers}",
        f"brookmere run app.py -c {servers}",
        f"brookmere kafka down{'' if directory is None else f' --dir {directory}'}",
    ):
        console.say(f"  {line}")


def _as_json(status: BrokerStatus) -> dict[str, object]:
    nodes = [{**asdict(node), "log": str(node.log)} for node in status.nodes]
    return {
        **asdict(status), "directory": str(status.directory), "state": status.state, "nodes": nodes
    }  # fmt: skip
