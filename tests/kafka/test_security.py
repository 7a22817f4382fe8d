"""TLS, SASL and ACLs by Kafka's own settings; refusals are told in words, and secrets nowhere."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)
from typer.testing import CliRunner

import brookmere as bm
from brookmere.broker import Broker
from brookmere.cli.main import app as command
from brookmere.config import read
from brookmere.topics import open_topics
from tests.kafka.certificates import Authority
from tests.kafka.homes import KafkaHome, Name

pytestmark = pytest.mark.usefixtures("spark")

PASSWORD = "qx7-secret-word"
LISTENERS = {"TLS": "SSL", "MUTUAL": "SSL", "PLAIN": "SASL_PLAINTEXT", "SCRAM": "SASL_SSL"}


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory, authority: Authority) -> Iterator[Broker]:
    """A Kafka with one listener of each kind; without a login one is the administrator."""
    store = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(authority.signed("broker")),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(authority.file),
    }
    plain = f'org.apache.kafka.common.security.plain.PlainLoginModule required user_ann="{PASSWORD}";'
    scram = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
    properties = {
        **store,
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
        "listener.name.mutual.ssl.client.auth": "required",
        "listener.name.plain.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.plain.plain.sasl.jaas.config": plain,
        "listener.name.scram.sasl.enabled.mechanisms": "SCRAM-SHA-512",
        "listener.name.scram.scram-sha-512.sasl.jaas.config": scram,
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS;User:ann;User:CN=ann",
    }
    users = [f"SCRAM-SHA-512=[name={user},password={PASSWORD}]" for user in ("ann", "bob")]
    broker = Broker(
        tmp_path_factory.mktemp("secure"),
        listeners=LISTENERS,
        properties=properties,
        format_arguments=[part for user in users for part in ("--add-scram", user)],
        tied=True,
    )
    broker.start()
    yield broker
    broker.kill()


@pytest.fixture
def home(secure: Broker, tmp_path: Path, name: Name) -> KafkaHome:
    return KafkaHome(secure, tmp_path, name)


def login(broker: Broker, kind: str, authority: Authority, user: str = "ann") -> dict[str, str]:
    """The settings of a client at one of the listeners; the password stands in the environment."""
    settings = {"bootstrap.servers": broker.servers(kind), "security.protocol": LISTENERS[kind]}
    if LISTENERS[kind].endswith("SSL"):
        settings |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(authority.file)}
    if kind == "MUTUAL":
        settings |= {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(authority.signed(user))}
    if LISTENERS[kind].startswith("SASL"):
        settings["sasl.mechanism"] = "PLAIN" if kind == "PLAIN" else "SCRAM-SHA-512"
        settings |= {"sasl.username": user, "sasl.password": "${env:KAFKA_PASSWORD}"}
    return settings


@pytest.fixture(autouse=True)
def password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_PASSWORD", PASSWORD)


@pytest.mark.parametrize("kind", LISTENERS)
def test_application_and_commands_log_in(
    home: KafkaHome, kind: str, authority: Authority, tmp_path: Path
) -> None:
    home.write("in", "a")
    settings = login(home.broker, kind, authority)
    file = tmp_path / "client.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))

    with bm.Application(home.shout(), {**home.settings, **settings}) as application:
        application.process_all_available()
    consumed = CliRunner().invoke(command, ["consume", home.name("out"), "--client-config", str(file)])

    assert home.read("out") == ["a!"]
    assert consumed.exit_code == 0, consumed.output
    assert "a!" in consumed.stdout


@pytest.mark.parametrize(
    ("kind", "change", "words"),
    [
        ("SCRAM", {"sasl.password": "wrong"}, "User:ann cannot log in"),
        ("PLAIN", {"sasl.password": "wrong"}, "User:ann cannot log in"),
        ("TLS", {"ssl.truststore.location": None, "ssl.truststore.type": None}, "ssl.truststore.location"),
        ("MUTUAL", {"ssl.keystore.location": None}, "cannot log in"),
        ("TLS", {"security.protocol": "PLAINTEXT"}, "security.protocol"),
    ],
    ids=["scram", "plain", "authority", "key", "protocol"],
)
def test_client_that_is_not_let_in_is_told_why(
    home: KafkaHome, kind: str, change: dict[str, str | None], words: str, authority: Authority
) -> None:
    home.write("in", "a")
    chosen = {**home.settings, **login(home.broker, kind, authority), **change}
    given = {key: value for key, value in chosen.items() if value is not None}

    with pytest.raises(bm.BrookmereError) as caught:
        bm.Application(home.shout(), given, default__api__timeout__ms=5000).start()

    assert words in str(caught.value)
    assert home.broker.servers(kind) in str(caught.value)
    assert "wrong" not in str(caught.value)


def allow(home: KafkaHome, *grants: tuple[ResourceType, str, AclOperation]) -> None:
    """Let bob do what the grants say; names are beginnings."""
    client = AdminClient({"bootstrap.servers": home.broker.bootstrap_servers})
    bindings = [
        AclBinding(
            kind, name, ResourcePatternType.PREFIXED, "User:bob", "*", operation, AclPermissionType.ALLOW
        )
        for kind, name, operation in grants
    ]
    for future in client.create_acls(bindings).values():
        future.result(30)


def grants_of(home: KafkaHome) -> dict[str, tuple[ResourceType, str, AclOperation]]:
    """What an application needs, as its documentation says."""
    topic, group, transaction = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID
    application = home.name("shout")
    return {
        "read": (topic, home.name("in"), AclOperation.READ),
        "write": (topic, home.name("out"), AclOperation.WRITE),
        "create": (topic, home.name("out"), AclOperation.CREATE),
        "settings": (topic, home.name("out"), AclOperation.DESCRIBE_CONFIGS),
        "group": (group, application, AclOperation.READ),
        "transactions": (transaction, application, AclOperation.WRITE),
    }


def bob(home: KafkaHome, authority: Authority, **settings: Any) -> bm.Application:
    config = {**home.settings, **login(home.broker, "SCRAM", authority, "bob")}
    return bm.Application(home.shout(), config, **settings)


def test_application_runs_with_the_rights_that_are_documented(home: KafkaHome, authority: Authority) -> None:
    home.write("in", "a")
    allow(home, *grants_of(home).values())

    with bob(home, authority) as application:
        application.process_all_available()

    assert home.read("out") == ["a!"]


@pytest.mark.parametrize(
    ("without", "operation", "resource"),
    [
        ("read", "Describe", "topic in"),
        ("write", "Write", "topic out"),
        ("create", "Create", "topic out"),
        ("group", "Read", "group shout"),
        ("transactions", "Write", "transactional-id shout"),
    ],
)
def test_right_that_is_missing_is_told(
    home: KafkaHome, authority: Authority, without: str, operation: str, resource: str
) -> None:
    home.write("in", "a")
    if without != "create":
        home.create("out")
    allow(home, *(grant for name, grant in grants_of(home).items() if name != without))
    # What may be written may be seen, too.
    allow(home, (ResourceType.TOPIC, home.name("out"), AclOperation.DESCRIBE))

    with pytest.raises(bm.AccessError) as caught, bob(home, authority) as application:
        application.process_all_available()

    kind, short = resource.split()
    error = caught.value
    assert error.principal == "User:bob"
    assert error.operation == operation
    assert error.resource is not None
    assert error.resource.startswith(f"{kind} {home.name(short)}")
    assert f"User:bob is not allowed the operation {operation} on the {kind}" in str(error)
    assert "kafka-acls" in str(error)


def test_topic_that_may_be_seen_but_not_read_is_told(home: KafkaHome, authority: Authority) -> None:
    home.write("in", "a")
    home.create("out")
    allow(home, *(grant for name, grant in grants_of(home).items() if name != "read"))
    allow(home, (ResourceType.TOPIC, home.name("in"), AclOperation.DESCRIBE))

    with pytest.raises(bm.AccessError) as caught, bob(home, authority) as application:
        application.process_all_available()

    assert (caught.value.operation, caught.value.resource) == ("Read", f"topic {home.name('in')}")


def test_record_that_only_the_broker_can_refuse_stops_the_application(
    home: KafkaHome, authority: Authority
) -> None:
    home.write("in", "x" * 3000)
    home.create("out", max__message__bytes=2000)
    allow(home, *(grant for name, grant in grants_of(home).items() if name != "settings"))

    with pytest.raises(bm.TopicError) as caught, bob(home, authority) as application:
        application.process_all_available()

    assert "Kafka does not take a record" in str(caught.value)
    assert "DescribeConfigs" in str(caught.value)


WATCHED = """
import json, logging, sys, urllib.request
import brookmere as bm
logging.basicConfig(level=logging.DEBUG, filename="python.log")
app = bm.StreamsBuilder(sys.argv[1], key=bm.Text(), value=bm.Text())
app.stream(sys.argv[2]).group_by_key().count(store="counts").to_stream().to(sys.argv[3])
application = bm.Application(app, "app.properties")
print(application, application.config)
with application:
    application.process_all_available()
    from pyspark.sql import SparkSession
    ui = SparkSession.getActiveSession().sparkContext.uiWebUrl
    read = lambda path: urllib.request.urlopen(ui + path).read().decode()
    (found,) = json.loads(read("/api/v1/applications"))
    rest = "/api/v1/applications/" + found["id"]
    pages = ["environment/", "SQL/", "SQL/execution/?id=0", "jobs/", "stages/", "StreamingQuery/"]
    rests = ["/environment", "/sql?details=true&planDescription=true", "/jobs"]
    for path in [*("/" + page for page in pages), *(rest + end for end in rests)]:
        print(path, read(path))
"""


def test_secrets_are_nowhere_to_be_seen(home: KafkaHome, authority: Authority, tmp_path: Path) -> None:
    """Not in what is printed or logged, nor in Spark's pages, its event log, or any file of the state."""
    home.write("in", "a")
    (tmp_path / "secrets.properties").write_text(f"password={PASSWORD}\n")
    (tmp_path / "events").mkdir()
    settings = {
        **login(home.broker, "SCRAM", authority),
        "sasl.password": "${file:secrets.properties:password}",
        "state.dir": "state",
        "num.stream.threads": "2",
        "spark.ui.enabled": "true",
        "spark.ui.port": "0",
        "spark.log.level": "INFO",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{tmp_path}/events",
    }
    (tmp_path / "app.properties").write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    (tmp_path / "watched.py").write_text(WATCHED)

    done = subprocess.run(
        [sys.executable, "watched.py", *map(home.name, ("watched", "in", "out"))],
        cwd=tmp_path, capture_output=True, text=True, timeout=400, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert home.read("out", bm.Long()) == [1]
    assert "spark.app.name" in done.stdout
    files = [file for file in tmp_path.rglob("*") if file.is_file() and file.name != "secrets.properties"]
    # Kafka's clients put their settings into the log, which shows that it was looked at.
    assert any(b"ProducerConfig values" in file.read_bytes() for file in files)
    assert any("events" in file.parts for file in files)
    assert [file for file in files if PASSWORD.encode() in file.read_bytes()] == []
    assert PASSWORD not in done.stdout + done.stderr


def test_log_of_debug_level_has_no_secrets(
    home: KafkaHome, authority: Authority, caplog: pytest.LogCaptureFixture
) -> None:
    home.write("in", "a")

    with (
        caplog.at_level(logging.DEBUG),
        bm.Application(
            home.shout(), {**home.settings, **login(home.broker, "SCRAM", authority)}
        ) as application,
    ):
        application.process_all_available()

    assert "py4j" in {record.name.split(".")[0] for record in caplog.records}
    assert PASSWORD not in caplog.text


def test_topics_log_in_without_showing_how(home: KafkaHome, authority: Authority) -> None:
    config = read(login(home.broker, "SCRAM", authority))
    home.write("in", "a")

    topics = open_topics(config)

    assert topics[home.name("in")].end_offsets() == [1]
    assert PASSWORD not in repr(topics) + repr(config)
