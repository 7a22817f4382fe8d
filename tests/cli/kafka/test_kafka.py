"""The commands on the development broker start, show and stop a real Kafka."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from brookmere.broker import Broker
from brookmere.jars import SETS
from tests.cli.conftest import Run, Spawn


@pytest.fixture
def ending(folder: Path) -> Iterator[Path]:
    """The default directory of Kafka, in which none runs when the test has ended."""
    yield folder / ".brookmere" / "kafka"
    Broker(folder / ".brookmere" / "kafka").kill()


def test_kafka_outlives_the_command_until_down(spawn: Spawn, ending: Path) -> None:
    up = spawn("kafka", "up", "--port", "0")
    assert up.returncode == 0, up.stderr
    servers = up.stdout.strip().removeprefix("bootstrap.servers=")
    assert f"Kafka 4.3.1 is running: 1 broker, data in {ending}." in up.stderr
    assert f"brookmere topics create lines --bootstrap-server {servers}" in up.stderr
    assert f"brookmere run app.py -c bootstrap.servers={servers}" in up.stderr

    again = spawn("kafka", "up", "--port", "19")
    assert again.stdout == up.stdout
    assert "is already running" in again.stderr
    assert f"It keeps port {servers.partition(':')[2]} until it is stopped." in again.stderr

    running = json.loads(spawn("kafka", "status", "--json").stdout)
    assert (running["state"], running["bootstrap_servers"]) == ("running", servers)
    shown = spawn("kafka", "status").stdout
    assert f"bootstrap.servers={servers}" in shown
    assert f"{running['nodes'][0]['pid']}" in shown

    down = spawn("kafka", "down")
    assert (down.returncode, down.stdout) == (0, "")
    assert f"Kafka has stopped; its data is kept in {ending}." in down.stderr
    stopped = json.loads(spawn("kafka", "status", "--json").stdout)
    assert (stopped["state"], stopped["nodes"][0]["pid"]) == ("stopped", None)


def test_status_and_down_report_that_there_is_no_kafka(run: Run, folder: Path) -> None:
    place = folder / ".brookmere" / "kafka"

    status, down = run("kafka", "status"), run("kafka", "down")

    assert (status.exit_code, status.stdout) == (0, "")
    assert f"There is no Kafka in {place}. `brookmere kafka up` creates one." in status.stderr
    assert json.loads(run("kafka", "status", "--json").stdout)["state"] == "none"
    assert f"No Kafka is running in {place}." in down.stderr
    assert list(folder.iterdir()) == []


def test_directory_of_jars_that_lacks_them_is_refused(run: Run, folder: Path) -> None:
    shown = run("kafka", "up", "--jars", str(folder / "jars"))

    assert shown.exit_code == 1
    assert "does not have the Java libraries of 'kafka-broker'" in shown.stderr


def test_jars_are_listed(run: Run) -> None:
    listed = run("kafka", "jars").stdout.splitlines()

    assert [line.split()[0] for line in listed] == ["SET", *SETS]


def test_jars_are_copied_for_another_machine(run: Run, folder: Path) -> None:
    shown = run("kafka", "jars", "--to", "jars", "kafka-clients")

    assert shown.exit_code == 0, shown.stderr
    (jar,) = (folder / "jars").iterdir()
    assert jar.name.startswith("kafka-clients-")
    assert "1 jar (10.2 MB) is in jars." in shown.stderr


def test_unknown_set_of_jars_is_refused_with_the_nearest(run: Run) -> None:
    shown = run("kafka", "jars", "kafka-client")

    assert shown.exit_code == 1
    assert "Did you mean 'kafka-clients'?" in shown.stderr
