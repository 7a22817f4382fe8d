"""The `brookmere kafka` commands: a Kafka for development on this machine."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from brookmere.broker import Broker, BrokerStatus
from brookmere.cli.options.parameters import AsJson, directory_option, group
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

app = group("Run a real Kafka on this machine, for development.")

Directory = Annotated[
    Path | None,
    directory_option(
        "The directory of its data; by default $BROOKMERE_HOME/kafka, or .brookmere/kafka.", "--dir"
    ),
]


@app.command()
def up(
    brokers: Annotated[
        int | None,
        typer.Option(
            "--brokers", min=1, max=9, metavar="N",
            help="The number of brokers of a new cluster; 1 by default.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port", min=0, max=65_000, metavar="PORT",
            help="The port of the first broker; the others use the next ones. 0 chooses free ports. "
            f"By default the ports of the last start, else {_PORT} and up.",
            show_default=False,
        ),
    ] = None,
    directory: Directory = None,
    jars: Annotated[
        Path | None,
        typer.Option(
            "--jars", metavar="DIR", help="Use Kafka's jars in DIR and download nothing.",
            show_default=False,
        ),
    ] = None,
) -> None:  # fmt: skip
    """Start Kafka in the background.

    Waits until it is ready. It listens on this machine only, and keeps its topics when it stops. The first
    start downloads Kafka.

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
        console.say(f"It keeps port {status.nodes[0].port} until it is stopped.", style="yellow")
    _report_running(status, "is running" if started else "is already running", directory)


@app.command()
def down(directory: Directory = None) -> None:
    """Stop Kafka; its topics are kept.

    \b
    Example:
      brookmere kafka down
    """
    place = _place(directory)
    stopped = Broker(place).stop()
    console.say(
        f"Kafka has stopped; its data is kept in {place}." if stopped else f"No Kafka is running in {place}."
    )


@app.command()
def status(directory: Directory = None, as_json: AsJson = False) -> None:
    """Show whether Kafka is running, and how much data it has.

    The exit code is 0 even if it is not running.

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
            console.say(f"There is no Kafka in {place}. `brookmere kafka up` creates one.")
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
        typer.Option(
            "--to", metavar="DIR", help="Download the jars and copy them to DIR.", show_default=False
        ),
    ] = None,
) -> None:
    """List the jars for Kafka, or download them to a directory.

    Copy the directory to a machine without internet access, and name it there with `--jars DIR` or the
    setting jars.dir.

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
                + (f"Did you mean {guess!r}?" if guess else "Choose one of those.")
            )
    if to is not None:
        made = collect(names or _NEEDED, to)
        total = console.size(sum(jar.stat().st_size for jar in made))
        verb = "is" if len(made) == 1 else "are"
        console.say(f"{console.counted(len(made), 'jar')} ({total}) {verb} in {to}.")
        console.say(f"Use them with: brookmere kafka up --jars {to}, or brookmere run ... -c jars.dir={to}")
        return
    rows = console.table("SET", "JARS", "IN THE CACHE", "FOR", numbers=("JARS",))
    for name in names or SETS:
        count = len(SETS[name][-1].libraries)
        rows.add_row(name, f"{count}", "no" if cached(name) is None else "yes", _PURPOSES[name])
    console.write_table(rows)


def _place(directory: Path | None) -> Path:
    return (home() / "kafka" if directory is None else directory).absolute()


def _report_running(status: BrokerStatus, words: str, directory: Path | None) -> None:
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
