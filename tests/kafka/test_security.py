"""Applications log in at Kafka by Kafka's own settings; refusals are told in words, and secrets nowhere."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from pathlib import Path

import pytest

import brookmere as bm
from tests.kafka.homes import KafkaHome, Name
from tests.kafka.secured import PASSWORD, Secured

pytestmark = pytest.mark.usefixtures("spark")

# However it is quoted.
SECRET = re.compile(rb"ti.{0,6}ger\\")


@pytest.fixture
def home(secured: Secured, tmp_path: Path, name: Name) -> KafkaHome:
    return KafkaHome(secured.broker, tmp_path, name)


Grant = tuple[str, str, str]


def rights(home: KafkaHome) -> dict[str, list[Grant]]:
    """What an application needs, as its documentation says."""
    application = home.name("shout")
    written = ("DESCRIBE", "DESCRIBE_CONFIGS")
    return {
        "read": [("topic", home.name("in"), "READ")],
        "see": [("topic", home.name("out"), operation) for operation in written],
        "write": [("topic", home.name("out"), "WRITE")],
        "create": [("topic", home.name("out"), "CREATE")],
        "group": [("group", application, "READ")],
        "transactions": [("transactional_id", application, "WRITE")],
    }


def allow(secured: Secured, home: KafkaHome, user: str = "alice", without: str = "") -> None:
    for name, grants in rights(home).items():
        for kind, prefix, operation in grants if name != without else ():
            secured.allow(user, kind, prefix, operation, prefixed=True)


def run(home: KafkaHome, settings: dict[str, str]) -> None:
    with bm.Application(home.shout(), {**home.settings, **settings}) as application:
        application.process_all_available()


@pytest.mark.parametrize("way", ["scram", "plain", "certificate"])
def test_application_logs_in_and_runs_with_the_rights_that_are_documented(
    secured: Secured, home: KafkaHome, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAFKA_PASSWORD", PASSWORD if way == "scram" else "bobs")
    user = {"scram": "alice", "plain": "bob", "certificate": "CN=client"}[way]
    settings = secured.settings(user, "${env:KAFKA_PASSWORD}", "PLAIN" if way == "plain" else "SCRAM-SHA-512")
    if way == "certificate":
        settings = {name: value for name, value in settings.items() if not name.startswith("sasl")}
        settings |= {
            "bootstrap.servers": secured.broker.servers("TLS"),
            "security.protocol": "SSL",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(secured.client),
        }
    home.write("in", "a")
    allow(secured, home, user)

    run(home, settings)

    assert home.read("out") == ["a!"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sasl.password": "wrong"}, "User:alice cannot log in at"),
        ({"ssl.truststore.location": ""}, "ssl.truststore.location"),
    ],
)
def test_application_that_is_not_let_in_is_told_why(
    secured: Secured, home: KafkaHome, change: dict[str, str], words: str
) -> None:
    settings = {**secured.settings(), **change}
    if not settings["ssl.truststore.location"]:
        del settings["ssl.truststore.location"], settings["ssl.truststore.type"]

    with pytest.raises(bm.errors.AccessError) as caught:
        run(home, settings)

    assert words in str(caught.value)
    assert "wrong" not in str(caught.value)


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
    secured: Secured, home: KafkaHome, without: str, operation: str, resource: str
) -> None:
    home.write("in", "a")
    if without != "create":
        home.create("out")
    allow(secured, home, without=without)

    with pytest.raises(bm.errors.AccessError) as caught:
        run(home, secured.settings())

    kind, short = resource.split()
    error = caught.value
    assert (error.principal, error.operation) == ("User:alice", operation)
    assert str(error.resource).startswith(f"{kind} {home.name(short)}")
    assert f"User:alice is not allowed the operation {operation} on the {kind}" in str(error)
    assert f"--allow-principal User:alice --operation {operation} --{kind} {home.name(short)}" in str(error)


def test_topic_that_may_be_seen_but_not_read_is_told(secured: Secured, home: KafkaHome) -> None:
    home.write("in", "a")
    home.create("out")
    allow(secured, home, without="read")
    secured.allow("alice", "topic", home.name("in"), "DESCRIBE")

    with pytest.raises(bm.errors.AccessError) as caught:
        run(home, secured.settings())

    assert (caught.value.operation, caught.value.resource) == ("Read", f"topic {home.name('in')}")


def test_record_that_only_the_broker_can_refuse_stops_the_application(
    secured: Secured, home: KafkaHome
) -> None:
    home.write("in", "x" * 3000)
    home.create("out", max__message__bytes=2000)
    allow(secured, home, without="see")

    with pytest.raises(bm.errors.TopicError) as caught:
        run(home, secured.settings())

    assert "Kafka rejects a record" in str(caught.value)
    assert "DescribeConfigs" in str(caught.value)


def test_log_of_the_debug_level_has_no_secrets(
    secured: Secured, home: KafkaHome, caplog: pytest.LogCaptureFixture
) -> None:
    home.write("in", "a")
    allow(secured, home)

    with caplog.at_level(logging.DEBUG):
        run(home, secured.settings())

    assert "py4j" in {record.name.split(".")[0] for record in caplog.records}
    assert not SECRET.search(caplog.text.encode())


LOGGING = """
rootLogger.level=INFO
rootLogger.appenderRef.console.ref=console
appender.console.type=Console
appender.console.name=console
appender.console.target=SYSTEM_ERR
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=%p %c: %m%n
logger.kafka.name=org.apache.kafka
logger.kafka.level=INFO
"""
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


def test_secrets_are_nowhere_to_be_seen(secured: Secured, home: KafkaHome, tmp_path: Path) -> None:
    """Not in what is printed or logged, nor in Spark's pages, its event log, or any file of the state."""
    home.write("in", "a")
    escaped = PASSWORD.replace("\\", "\\\\")
    (tmp_path / "secrets.properties").write_text(f"password={escaped}\n")
    (tmp_path / "events").mkdir()
    settings = {
        **secured.settings("alice", "${file:secrets.properties:password}"),
        "state.dir": "state",
        "num.stream.threads": "2",
        "spark.ui.enabled": "true",
        "spark.ui.port": "0",
        "spark.log.level": "INFO",
        "spark.driver.extraJavaOptions": f"-Xss8m -Dlog4j2.configurationFile={tmp_path}/log4j2.properties",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{tmp_path}/events",
    }
    (tmp_path / "app.properties").write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    (tmp_path / "log4j2.properties").write_text(LOGGING)
    (tmp_path / "watched.py").write_text(WATCHED)
    application = home.name("watched")
    for kind, prefix in (("topic", application), ("group", application), ("transactional_id", application)):
        secured.allow("alice", kind, prefix, "ALL", prefixed=True)
    for short in ("in", "out"):
        secured.allow("alice", "topic", home.name(short), "ALL")

    done = subprocess.run(
        [sys.executable, "watched.py", application, home.name("in"), home.name("out")],
        cwd=tmp_path, capture_output=True, text=True, timeout=400, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert home.read("out", bm.Long()) == [1]
    assert "spark.app.name" in done.stdout
    contents = {
        file.relative_to(tmp_path): file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()
    }
    # Kafka's clients put their settings into the log, which shows that it was looked at.
    assert any(b"ProducerConfig values" in content for content in contents.values())
    assert any(file.parts[0] == "events" for file in contents)
    found = {str(file) for file, content in contents.items() if SECRET.search(content)}
    assert found == {"secrets.properties"}
    assert not SECRET.search((done.stdout + done.stderr).encode())
