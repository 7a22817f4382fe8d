"""The commands on topics work on a real Kafka as they do on embedded topics."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from brookmere.broker import Broker
from brookmere.cli.main import app
from brookmere.serde import Long, Text
from brookmere.state import StoreInfo
from brookmere.state.description.store_file import write_stores
from brookmere.topics.kafka import KafkaTopics

Name = Callable[[str], str]
Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BROOKMERE_HOME", raising=False)

    def run_here(*arguments: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(app, list(arguments), input=stdin, prog_name="brookmere")

    return run_here


def test_topics_are_created_filled_shown_and_deleted(run: Run, kafka: Broker, name: Name) -> None:
    server = ("--bootstrap-server", kafka.bootstrap_servers)
    orders = name("orders")

    created = run("topics", "create", orders, "-p", "2", "-c", "retention.ms=-1", *server)
    again = run("topics", "create", orders, "--if-not-exists", *server)
    produced = run(
        "produce", orders, "--key-separator", ":", "--timestamp", "1000", *server, stdin="a:1\nb:2\n"
    )
    lines = run("consume", orders, "--format", "json", "-c", f"bootstrap.servers={kafka.bootstrap_servers}")
    listed = run("topics", "list", "--json", *server)
    described = run("topics", "describe", orders, *server)
    detail = run("topics", "describe", orders, "--json", *server)
    deleted = run("topics", "delete", orders, "--yes", *server)

    assert created.stderr == f"Topic {orders} created: 2 partitions, at {kafka.bootstrap_servers}.\n"
    assert again.stderr == f"Topic {orders} already exists: 2 partitions, at {kafka.bootstrap_servers}.\n"
    assert produced.stderr.startswith(f"2 records to {orders} in ")
    records = sorted((json.loads(line) for line in lines.stdout.splitlines()), key=lambda r: r["key"])
    assert [(r["key"], r["value"], r["timestamp"]) for r in records] == [("a", "1", 1000), ("b", "2", 1000)]
    (found,) = [each for each in json.loads(listed.stdout) if each["name"] == orders]
    assert (found["partitions"], found["records"], found["last_timestamp"]) == (2, 2, 1000)
    assert f"Topic {orders} at {kafka.bootstrap_servers}\n2 records at most" in described.stdout
    assert "1970-01-01 00:00:01.000" in described.stdout
    assert json.loads(detail.stdout)["config"]["retention.ms"] == "-1"
    assert deleted.stderr == f"Topic {orders} deleted.\n"
    assert orders not in run("topics", "list", *server).stdout


def test_lines_of_json_are_records_with_all_their_parts(run: Run, kafka: Broker, name: Name) -> None:
    server = ("--bootstrap-server", kafka.bootstrap_servers)
    line = '{"key": "k", "value": {"n": 1}, "timestamp": 5, "headers": {"h": "x"}, "partition": 0}'

    made = run("produce", name("t"), "--format", "json", "--create", *server, stdin=f"{line}\n")
    shown = run("consume", name("t"), *server)

    assert f"Topic {name('t')} created at {kafka.bootstrap_servers}." in made.stderr
    assert 'k    {"n":1}  h=x' in shown.stdout


def test_settings_come_from_a_file(run: Run, kafka: Broker, name: Name, tmp_path: Path) -> None:
    file = tmp_path / "app.properties"
    file.write_text(f"application.id=shop\nbootstrap.servers={kafka.bootstrap_servers}\nclient.id=me\n")

    assert run("topics", "create", name("t"), "--client-config", str(file)).exit_code == 0
    assert name("t") in run("topics", "list", "--config", str(file)).stdout
    missing = run("topics", "describe", name("x"), "--config", str(file), "-c", "client.id=you")

    assert missing.exit_code == 1
    command = f"brookmere topics create {name('x')} --bootstrap-server {kafka.bootstrap_servers}"
    assert f"`{command} --client-config {file}` creates it" in missing.stderr


def test_command_of_an_error_can_be_typed(run: Run, kafka: Broker, name: Name) -> None:
    failed = run("consume", name("t"), "--bootstrap-server", kafka.bootstrap_servers)
    command = failed.stderr.split("`")[1]

    assert run(*command.split()[1:]).exit_code == 0
    assert run("consume", name("t"), "--bootstrap-server", kafka.bootstrap_servers).exit_code == 0


@pytest.mark.parametrize("command", ["clean", "repair"])
def test_work_that_kafka_does_itself_is_refused(run: Run, command: str) -> None:
    refused = run("topics", command, "orders", "--bootstrap-server", "anywhere:9092")

    assert refused.exit_code == 1
    assert f"`brookmere topics {command}` works on embedded topics only" in refused.stderr
    assert "Kafka maintains the files of its topics itself" in refused.stderr


def test_two_places_are_refused(run: Run) -> None:
    refused = run("topics", "list", "--topics-dir", "here", "--bootstrap-server", "anywhere:9092")

    assert refused.exit_code == 1
    assert "Give only one of them." in refused.stderr


def test_wrong_setting_is_told_as_it_was_typed(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "app.properties"
    file.write_text("bootstrap.servers=anywhere:9092\n")

    refused = run("topics", "list", "--config", str(file), "-c", "security.protcol=SSL")

    assert refused.exit_code == 1
    assert "There is no setting security.protcol. Did you mean security.protocol?" in refused.stderr


def test_copies_are_refused_for_embedded_topics(run: Run) -> None:
    refused = run("topics", "create", "t", "--replication-factor", "3")

    assert refused.exit_code == 1
    assert "--replication-factor applies to Kafka topics" in refused.stderr


def test_stores_are_followed_and_asked_without_spark(
    run: Run, kafka: Broker, name: Name, tmp_path: Path
) -> None:
    application, topic = name("clicks"), name("clicks-counts-changelog")
    state = tmp_path / ".brookmere" / "state" / application
    state.mkdir(parents=True)
    write_stores(state, [StoreInfo("counts", "key_value", topic, Text(), Long())])
    here = ("-c", f"bootstrap.servers={kafka.bootstrap_servers}")
    early = run("query", application, "counts", "ada", *here)
    topics = KafkaTopics({"bootstrap.servers": kafka.bootstrap_servers})
    topics.create(topic, 2)
    with topics.producer(topic, key=Text(), value=Long()) as producer:
        for key, value in (("ada", 1), ("bob", 2), ("ada", 3)):
            producer.send(key, value, timestamp=1000)

    followed = run("replica", application, "--until-ready", *here)
    asked = run("query", application, "counts", "ada", *here)

    assert early.exit_code == 1
    assert f"its topic {topic} does not exist" in early.stderr
    assert f"Kafka topics at {kafka.bootstrap_servers}" in followed.stderr
    assert "counts: ready · 2 rows · lag 0 · position " in followed.stderr
    assert json.loads(asked.stdout) == {"key": "ada", "value": 3, "timestamp": 1000}
