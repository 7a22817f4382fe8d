"""Who may do what on a Kafka with TLS, logins and rights is told exactly, and never a password."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import brookmere as bm
from brookmere.config import read
from brookmere.errors import AccessError, ConfigError, UnreachableError
from brookmere.topics import open_topics
from brookmere.topics.kafka import KafkaTopics
from tests.kafka.secured import PASSWORD, Secured

Name = Callable[[str], str]


def opened(settings: dict[str, str]) -> KafkaTopics:
    topics = open_topics(read(settings))
    assert isinstance(topics, KafkaTopics)
    return topics


@pytest.fixture
def admin(secured: Secured) -> KafkaTopics:
    return opened(secured.settings("admin", "admins"))


def test_user_logs_in_and_does_what_is_granted(secured: Secured, admin: KafkaTopics, name: Name) -> None:
    admin.create(name("t"), config={"retention.ms": -1})
    secured.allow("alice", "topic", name("t"), "read", "write", "describe")
    topics = opened(secured.settings())

    topics[name("t")].append([bm.Record(b"k", b"v", 1)])

    assert [record.value for record in topics[name("t")].read(0)] == [b"v"]
    with topics.consumer(name("t")) as consumer:
        assert [record.value for record in consumer] == [b"v"]
    info = topics[name("t")].describe()
    assert (info.records, info.config.by_name()) == (1, {})


def test_password_comes_from_the_environment(
    secured: Secured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ALICES", PASSWORD)
    file = tmp_path / "secrets.properties"
    file.write_text("truststore = " + str(secured.ca))
    settings = secured.settings(password="${env:ALICES}")
    settings["ssl.truststore.location"] = f"${{file:{file}:truststore}}"

    assert isinstance(opened(settings).names(), list)


def test_plain_login_works(secured: Secured) -> None:
    assert isinstance(opened(secured.settings("bob", "bobs", "PLAIN")).names(), list)


def test_certificate_is_a_login(secured: Secured, admin: KafkaTopics, name: Name) -> None:
    admin.create(name("t"))
    secured.allow("CN=client", "topic", name("t"), "describe")

    topics = opened(
        {
            "bootstrap.servers": secured.broker.servers("TLS"),
            "security.protocol": "SSL",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(secured.ca),
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(secured.client),
        }
    )

    assert topics[name("t")].partitions == 1
    with pytest.raises(
        AccessError, match="the owner of the client's certificate is not allowed the operation"
    ):
        topics[name("t")].append([bm.Record(None, b"v", 1)])


def test_key_store_of_pkcs12_is_a_login(secured: Secured, tmp_path: Path) -> None:
    store = tmp_path / "client.p12"
    command = ["openssl", "pkcs12", "-export", "-in", str(secured.client), "-out", str(store)]
    subprocess.run([*command, "-passout", "pass:tiger"], check=True, capture_output=True)

    topics = opened(
        {
            "bootstrap.servers": secured.broker.servers("TLS"),
            "security.protocol": "SSL",
            "ssl.truststore.certificates": secured.ca.read_text(),
            "ssl.truststore.type": "PEM",
            "ssl.keystore.type": "PKCS12",
            "ssl.keystore.location": str(store),
            "ssl.keystore.password": "tiger",
        }
    )

    assert isinstance(topics.names(), list)


@pytest.mark.parametrize(
    ("act", "operation"),
    [
        (lambda topics, name: topics[name], "Describe"),
        (lambda topics, name: topics.create(f"{name}-new"), "Create"),
        (lambda topics, name: topics.delete(name), "Delete"),
    ],
)
def test_refusal_names_who_what_and_the_missing_grant(
    secured: Secured,
    admin: KafkaTopics,
    name: Name,
    act: Callable[[KafkaTopics, str], object],
    operation: str,
) -> None:
    admin.create(name("t"))

    with pytest.raises(AccessError) as caught:
        act(opened(secured.settings()), name("t"))

    error, server = caught.value, secured.broker.servers("SECURE")
    topic = f"{name('t')}-new" if operation == "Create" else name("t")
    assert (error.principal, error.operation, error.resource) == ("User:alice", operation, f"topic {topic}")
    assert f"User:alice is not allowed the operation {operation} on the topic {topic!r}" in str(error)
    grant = f"--add --allow-principal User:alice --operation {operation} --topic {topic}`"
    assert f"`kafka-acls --bootstrap-server {server} {grant}" in str(error)
    assert PASSWORD not in str(error)


@pytest.mark.parametrize(
    ("act", "operation"),
    [
        (lambda topic: topic.append([bm.Record(None, b"v", 1)]), "Write"),
        (lambda topic: list(topic.read(0)), "Read"),
        (lambda topic: topic.config, "DescribeConfigs"),
    ],
)
def test_user_who_sees_a_topic_may_not_read_or_write_it(
    secured: Secured,
    admin: KafkaTopics,
    name: Name,
    act: Callable[[object], object],
    operation: str,
) -> None:
    admin.create(name("t")).append([bm.Record(None, b"v", 1)])
    secured.allow("alice", "topic", name("t"), "describe")

    with pytest.raises(AccessError) as caught:
        act(opened(secured.settings())[name("t")])

    assert (caught.value.operation, caught.value.resource) == (operation, f"topic {name('t')}")


def test_group_is_refused_by_its_name(secured: Secured, name: Name) -> None:
    with pytest.raises(AccessError) as caught:
        opened(secured.settings()).groups.offsets(name("app"))

    assert caught.value.resource == f"group {name('app')}"


@pytest.mark.parametrize(
    "wrong",
    [{"sasl.password": "lion"}, {"sasl.username": "eve"}, {"sasl.mechanism": "PLAIN"}],
    ids=lambda wrong: next(iter(wrong)),
)
def test_failed_login_is_told_at_once_without_the_password(secured: Secured, wrong: dict[str, str]) -> None:
    topics = opened({**secured.settings(), **wrong, "default.api.timeout.ms": "60000"})

    with pytest.raises(AccessError) as caught:
        topics.names()

    text = str(caught.value)
    user = wrong.get("sasl.username", "alice")
    assert f"User:{user} cannot log in at {secured.broker.servers('SECURE')}" in text
    assert "Check sasl.mechanism, the user name and the password." in text
    assert "lion" not in text
    assert PASSWORD not in text


def test_broker_that_is_not_trusted_is_told(secured: Secured, tmp_path: Path) -> None:
    # Signed by nobody that this client knows.
    settings = {**secured.settings(), "ssl.truststore.location": str(secured.directory / "client.crt")}

    with pytest.raises(AccessError) as caught:
        opened(settings).names()

    assert "Check that security.protocol matches the listener, that ssl.truststore.location contains" in str(
        caught.value
    )


def test_plain_words_to_a_listener_of_tls_are_told(secured: Secured) -> None:
    settings = {"bootstrap.servers": secured.broker.servers("SECURE"), "default.api.timeout.ms": "2000"}

    with pytest.raises(UnreachableError) as caught:
        opened(settings).names()

    assert "Check the addresses, security.protocol" in str(caught.value)


def test_command_of_an_error_names_the_file_of_the_settings(secured: Secured, tmp_path: Path) -> None:
    file = tmp_path / "alice.properties"
    lines = (f"{name}={value}" for name, value in secured.settings("admin", "admins").items())
    file.write_text("\n".join(lines))

    topics = open_topics(read(file))

    assert topics.command("create t") == (
        f"brookmere topics create t --bootstrap-server {secured.broker.servers('SECURE')} "
        f"--client-config {file}"
    )


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"ssl.truststore.location": "trust.jks"}, "ssl.truststore.type is JKS, the default"),
        (
            {"ssl.truststore.location": "trust.p12", "ssl.truststore.type": "PKCS12"},
            "Convert it with `openssl pkcs12 -in store.p12 -nokeys -out store.pem`",
        ),
        (
            {"ssl.keystore.location": "key.jks", "ssl.keystore.type": "JKS"},
            "`keytool -importkeystore -srckeystore key.jks -destkeystore store.p12 -deststoretype PKCS12 && ",
        ),
        (
            {"sasl.jaas.config": "nonsense tiger"},
            "sasl.jaas.config is not a valid JAAS login (its value is hidden)",
        ),
    ],
)
def test_settings_that_python_cannot_use_are_refused(settings: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        opened({"bootstrap.servers": "anywhere:9", "security.protocol": "SASL_SSL", **settings})

    assert words in str(caught.value)
    assert "tiger" not in str(caught.value)


def test_store_of_another_type_is_recognized(secured: Secured) -> None:
    with pytest.raises(ConfigError, match=r"The file is PEM: set ssl.truststore.type=PEM."):
        opened(
            {
                "bootstrap.servers": "anywhere:9",
                "security.protocol": "SSL",
                "ssl.truststore.location": str(secured.ca),
            }
        )
