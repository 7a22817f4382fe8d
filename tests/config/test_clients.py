"""Each client of Kafka gets its settings by the names that Kafka gives them, with secrets in their places."""

from __future__ import annotations

from pathlib import Path

import pytest

from brookmere.config import client_settings, read, topic_settings
from brookmere.config.kafka_names import FIXED, OWN, SHARED, SHORT
from brookmere.errors import ConfigError

BROKER = {"bootstrap.servers": "one:9092"}
SASL = {**BROKER, "security.protocol": "SASL_SSL"}


def test_a_client_gets_what_all_have_and_its_own() -> None:
    config = read(
        {**BROKER, "client.id": "me", "linger.ms": 5, "fetch.min.bytes": 9, "topic.retention.ms": 1}
    )

    assert client_settings(config, "consumer") == {**BROKER, "client.id": "me", "fetch.min.bytes": "9"}
    assert client_settings(config, "producer") == {**BROKER, "client.id": "me", "linger.ms": "5"}
    assert client_settings(config, "admin") == {**BROKER, "client.id": "me"}
    assert topic_settings(config) == {"retention.ms": "1"}


def test_the_setting_with_the_longest_prefix_wins() -> None:
    config = read(
        {
            **BROKER,
            "main.consumer.fetch.min.bytes": 3,
            "consumer.fetch.min.bytes": 2,
            "fetch.min.bytes": 1,
            "admin.client.id": "boss",
        }
    )

    assert client_settings(config, "consumer")["fetch.min.bytes"] == "3"
    assert client_settings(config, "admin")["client.id"] == "boss"


def test_references_are_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USER_OF_KAFKA", "ann")
    secrets = tmp_path / "secrets.properties"
    secrets.write_text("password = ti:ger\\\\\n")
    jaas = f'M required username="${{env:USER_OF_KAFKA}}" password="${{file:{secrets}:password}}";'

    found = client_settings(read({**SASL, "sasl.jaas.config": jaas}), "admin")

    assert found["sasl.jaas.config"] == 'M required username="ann" password="ti:ger\\";'


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("${env:NOT_THERE}", "there is no such environment variable. Set NOT_THERE, and start again."),
        ("${file:secrets:passwort}", "the file has no key passwort. Did you mean password?"),
        ("${file:secrets:zzz}", "the file has no key zzz. Add a line zzz=... to secrets."),
        ("${file:nowhere:password}", "the file cannot be read."),
        (
            "${file:secrets}",
            "it does not name a key of a file. Write ${file:path:key}, for a properties file.",
        ),
        ("${vault:a:b}", "there is no provider 'vault'. Write ${env:NAME} or ${file:path:key}."),
    ],
)
def test_missing_reference_is_reported_without_any_secret(
    reference: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("secrets").write_text("password=tiger")

    with pytest.raises(ConfigError) as caught:
        client_settings(read({**SASL, "ssl.key.password": reference, "sasl.password": "lion"}), "consumer")

    assert str(caught.value).startswith(f"The setting ssl.key.password refers to {reference}: {words}")
    assert "tiger" not in str(caught.value)
    assert "lion" not in str(caught.value)


@pytest.mark.parametrize(
    ("mechanism", "module"),
    [
        ("PLAIN", "org.apache.kafka.common.security.plain.PlainLoginModule"),
        ("SCRAM-SHA-256", "org.apache.kafka.common.security.scram.ScramLoginModule"),
        ("scram-sha-512", "org.apache.kafka.common.security.scram.ScramLoginModule"),
    ],
)
def test_name_and_password_become_a_login(
    mechanism: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSWORD", 'ti"g\\er')
    given = {**SASL, "sasl.mechanism": mechanism, "sasl.username": "ann", "sasl.password": "${env:PASSWORD}"}

    found = client_settings(read(given), "producer")

    assert found["sasl.jaas.config"] == f'{module} required username="ann" password="ti\\"g\\\\er";'
    assert not SHORT & found.keys()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"sasl.username": "ann"}, "The setting sasl.username is given without sasl.password. Set both"),
        ({"sasl.password": "tiger"}, "The setting sasl.password is given without sasl.username. Set both"),
        (
            {"sasl.username": "ann", "sasl.password": "tiger"},
            "there is no sasl.mechanism. Set sasl.mechanism to PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512",
        ),
        (
            {"sasl.username": "ann", "sasl.password": "tiger", "sasl.mechanism": "GSSAPI"},
            "but sasl.mechanism is GSSAPI. Set",
        ),
        (
            {"sasl.username": "ann", "sasl.password": "tiger", "sasl.jaas.config": "x"},
            "sasl.jaas.config is given together with sasl.username and sasl.password",
        ),
    ],
)
def test_logins_that_do_not_fit_together_are_refused(given: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        client_settings(read({**SASL, **given}), "admin")

    assert words in str(caught.value)
    assert "tiger" not in str(caught.value)


def test_no_setting_is_both_handed_on_and_fixed() -> None:
    assert not FIXED & (SHARED | SHORT | frozenset().union(*OWN.values()))
