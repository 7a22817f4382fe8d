"""Settings are typed, or refused with all their faults."""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from brookmere.config import Config, read
from brookmere.config.kafka_streams_names import ALIASES, WITHOUT_EFFECT
from brookmere.config.settings import table
from brookmere.dsl.graph import rules
from brookmere.errors import ConfigError


def test_settings_are_read_from_text() -> None:
    config = read(
        {
            "commit.interval.ms": "100",
            "auto.create.topics": "true",
            "auto.offset.reset": "latest",
            "state.dir": "somewhere",
            "topology.optimization": "reuse.ktable.source.topics, merge.repartition.topics",
        }
    )

    assert config.commit_interval_ms == 100
    assert config.auto_create_topics is True
    assert config.auto_offset_reset == "latest"
    assert config.state_dir == Path.cwd() / "somewhere"
    assert config.topology_optimization == "reuse.ktable.source.topics,merge.repartition.topics"


def test_settings_are_read_from_values_of_python() -> None:
    config = read(
        {
            "commit.interval.ms": timedelta(seconds=2),
            "state.dir": Path("/somewhere"),
            "auto.create.topics": True,
            "topology.optimization": ["all"],
            "default.partitions": None,
        }
    )

    assert config.commit_interval_ms == 2000
    assert config.state_dir == Path("/somewhere")
    assert config.auto_create_topics is True
    assert config.topology_optimization == "all"
    assert config.default_partitions is None


def test_keyword_wins_over_the_mapping() -> None:
    config = read({"commit.interval.ms": 100, "max.batch.records": 5}, commit__interval__ms=7)

    assert (config.commit_interval_ms, config.max_batch_records) == (7, 5)


def test_settings_can_be_changed_by_keywords() -> None:
    config = read({"commit.interval.ms": 100, "spark.a": 1})

    assert read(config, max__batch__records=9, spark__b=True) == read(
        {"commit.interval.ms": 100, "max.batch.records": 9, "spark.a": "1", "spark.b": "true"}
    )


def test_file_of_properties_is_read(tmp_path: Path) -> None:
    file = tmp_path / "app.properties"
    file.write_text("commit.interval.ms=100\nnum.stream.threads: 3\n")

    config = read(file)

    assert (config.commit_interval_ms, config.num_stream_threads) == (100, 3)
    assert read(str(file)) == config


def test_home_directory_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("BROOKMERE_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    assert read().topics_dir == tmp_path / ".brookmere" / "topics"

    monkeypatch.setenv("BROOKMERE_HOME", "/var/brook")
    assert read().topics_dir == Path("/var/brook/topics")
    assert read().state_dir == Path("/var/brook/state")


@pytest.mark.parametrize(
    ("setting", "found", "words"),
    [
        (
            "commit.interval.ms",
            "fast",
            "an integer (milliseconds), at least 0, a timedelta, or a text such as",
        ),
        ("commit.interval.ms", -1, "an integer (milliseconds), at least 0, a timedelta, or a text such as"),
        ("commit.interval.ms", timedelta(microseconds=1), "a timedelta, or a text"),
        ("commit.interval.ms", True, "an integer (milliseconds)"),
        ("commit.interval.ms", 1.5, "an integer (milliseconds)"),
        ("num.stream.threads", 0, "an integer, at least 1"),
        ("auto.create.topics", "yes", "true or false"),
        ("auto.create.topics", 1, "true or false"),
        ("auto.offset.reset", "early", "earliest, latest or none"),
        ("auto.offset.reset", "", "earliest, latest or none"),
        ("processing.guarantee", "at_most_once", "exactly_once_v2 or at_least_once"),
        ("processing.guarantee", "kafka.exactly_once", "exactly_once_v2 or at_least_once"),
        ("deserialization.exception.handler", "com.example.MyHandler", "fail or continue"),
        ("application.id", "my app", "a name of up to 249 letters"),
        ("application.id", "..", "a name of up to 249 letters"),
        ("replication.factor", 0, "an integer, at least 1, or -1"),
        ("state.dir", 5, "the path of a directory"),
        ("topology.optimization", "most", "several separated by commas"),
        ("topology.optimization", [], "several separated by commas"),
    ],
)
def test_wrong_value_is_named_with_what_would_be_right(setting: str, found: Any, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read({setting: found})

    assert f"The setting {setting} is {found!r}. Give it " in str(caught.value)
    assert words in str(caught.value)


def test_unknown_setting_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError) as caught:
        read({"comit.interval.ms": 1})

    assert str(caught.value) == "There is no setting comit.interval.ms. Did you mean commit.interval.ms?"


def test_unknown_keyword_is_refused_as_it_is_written() -> None:
    with pytest.raises(ConfigError) as caught:
        read(commit_interval_ms=1)

    assert str(caught.value) == (
        "There is no setting commit_interval_ms=. Did you mean commit__interval__ms=?"
    )


def test_setting_that_is_near_to_nothing_leads_to_the_list() -> None:
    with pytest.raises(ConfigError, match=r"There is no setting zzz. docs/reference/configuration.md lists"):
        read({"zzz": 1})


def test_all_faults_are_reported_together_with_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "app.properties"
    file.write_text("# settings\ncomit.interval.ms=1\nnum.stream.threads=none\n")

    with pytest.raises(ConfigError) as caught:
        read(file, store__type="disk")

    assert str(caught.value).splitlines() == [
        "3 faults:",
        f"  1. There is no setting comit.interval.ms ({file}:2). Did you mean commit.interval.ms?",
        f"  2. The setting num.stream.threads is 'none' ({file}:3). Give it an integer, at least 1.",
        "  3. The setting store.type is 'disk'. Give it auto, memory or rocksdb.",
    ]
    assert len(caught.value.faults) == 3


def test_something_else_than_settings_is_refused() -> None:
    with pytest.raises(ConfigError, match="found int"):
        read(5)  # type: ignore[arg-type]


def test_settings_of_clients_are_kept_as_they_are_given() -> None:
    config = read(
        {
            "bootstrap.servers": ["one:9092", "two:9092"],
            "producer.linger.ms": timedelta(seconds=1),
            "enable.metrics.push": False,
            "topic.retention.ms": -1,
        },
        security__protocol="SSL",
    )

    assert config.on_kafka
    assert config.kafka == {
        "bootstrap.servers": "one:9092,two:9092",
        "producer.linger.ms": "1000",
        "enable.metrics.push": "false",
        "topic.retention.ms": "-1",
        "security.protocol": "SSL",
    }


def test_settings_of_clients_have_no_effect_without_brokers(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        config = read({"linger.ms": 5, "security.protocol": "SSL"})

    assert not config.on_kafka
    assert config == Config()
    assert "that have no effect in Brookmere: linger.ms, security.protocol" in caplog.text


def test_settings_that_the_application_decides_about_are_named(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        config = read(
            {"bootstrap.servers": "one:9092", "consumer.group.id": "mine", "enable.idempotence": True}
        )

    assert config.kafka == {"bootstrap.servers": "one:9092"}
    assert "that have no effect in Brookmere: consumer.group.id, enable.idempotence" in caplog.text


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("bootstrap.server", "bootstrap.servers"),
        ("ssl.truststore.locaton", "ssl.truststore.location"),
        ("producer.lingr.ms", "producer.linger.ms"),
        ("sasl.user.name", "sasl.username"),
    ],
)
def test_unknown_setting_of_a_client_is_refused_with_the_nearest(given: str, meant: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read({"bootstrap.servers": "one:9092", given: "x"})

    assert str(caught.value) == f"There is no setting {given}. Did you mean {meant}?"


def test_settings_for_classes_of_the_user_are_handed_on() -> None:
    config = read({"bootstrap.servers": "one:9092", "consumer.my.interceptor.level": 3})

    assert config.kafka["consumer.my.interceptor.level"] == "3"


def test_empty_addresses_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"bootstrap.servers is empty. Give it the addresses"):
        read({"bootstrap.servers": " "})


@pytest.mark.parametrize(("given", "found"), [("-1", -1), (3, 3)])
def test_copies_are_counted_or_left_to_kafka(given: Any, found: int) -> None:
    assert read({"replication.factor": given}).replication_factor == found


@pytest.mark.parametrize(
    ("given", "handler"),
    [
        ("continue", "continue"),
        ("FAIL", "fail"),
        ("org.apache.kafka.streams.errors.LogAndContinueExceptionHandler", "continue"),
        ("LogAndContinueProcessingExceptionHandler", "continue"),
        ("org.apache.kafka.streams.errors.DefaultProductionExceptionHandler", "fail"),
    ],
)
def test_handlers_have_the_names_of_kafka_streams(given: str, handler: str) -> None:
    assert read({"deserialization.exception.handler": given}).deserialization_exception_handler == handler


@pytest.mark.parametrize("given", ["exactly_once", "exactly_once_beta", "EXACTLY_ONCE", "exactly_once_v2"])
def test_exactly_once_has_the_names_of_earlier_kafka_streams(given: str) -> None:
    assert read({"processing.guarantee": given}).processing_guarantee == "exactly_once_v2"


def test_handlers_that_continue_are_listed() -> None:
    config = read({"processing.exception.handler": "continue", "production.exception.handler": "continue"})

    assert config.continue_on == ("processing", "production")


@pytest.mark.parametrize("alias", ALIASES)
def test_other_names_of_a_setting_set_it(alias: str) -> None:
    value = {"statestore.cache.max.bytes": 7, "auto.offset.reset": "latest"}.get(ALIASES[alias], "continue")

    assert read({alias: value}) == read({ALIASES[alias]: value}) != Config()


def test_settings_without_effect_are_accepted_and_named_in_one_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        config = read(
            {
                "num.standby.replicas": 1,
                "default.key.serde": "org.example.Serde",
                "producer.linger.ms": 5,
                "sasl.jaas.config": "password=tiger",
            }
        )

    assert config == Config()
    (line,) = [record.getMessage() for record in caplog.records]
    assert line == (
        "settings of Kafka Streams that have no effect in Brookmere: "
        "num.standby.replicas (start any number of brookmere replica), "
        "default.key.serde (pass key= to StreamsBuilder), producer.linger.ms, sasl.jaas.config"
    )


def test_settings_of_spark_are_handed_on_as_text() -> None:
    config = read({"spark.executor.cores": 2, "spark.ui.enabled": True}, spark__driver__memory="1g")

    assert config.spark == {
        "spark.executor.cores": "2",
        "spark.ui.enabled": "true",
        "spark.driver.memory": "1g",
    }


def test_secrets_are_never_shown() -> None:
    config = read({"spark.ssl.keyPassword": "tiger", "spark.app.name": "words", "max.batch.records": 3})

    assert repr(config) == "Config(max.batch.records=3, spark.ssl.keyPassword=[hidden], spark.app.name=words)"
    with pytest.raises(ConfigError) as caught:
        read({"ssl.pasword": "tiger", "password": "tiger", "secret.token": "tiger"})
    assert "tiger" not in str(caught.value)


def test_secrets_of_clients_are_never_shown() -> None:
    hidden = {
        "sasl.jaas.config": "tiger",
        "sasl.password": "tiger",
        "ssl.key.password": "tiger",
        "ssl.keystore.key": "tiger",
        "producer.ssl.keystore.password": "tiger",
        "sasl.oauthbearer.client.credentials.client.secret": "tiger",
        "sasl.oauthbearer.assertion.private.key.passphrase": "tiger",
    }

    shown = repr(read({"bootstrap.servers": "one:9092", **hidden}))

    assert "bootstrap.servers=one:9092" in shown
    assert "tiger" not in shown


def test_no_name_has_two_meanings() -> None:
    names = [row.name for row in table()]

    assert not set(names) & (WITHOUT_EFFECT | set(ALIASES))
    assert set(ALIASES.values()) <= set(names)
    assert not WITHOUT_EFFECT & (set(ALIASES))


def test_every_optimization_of_the_builder_can_be_set() -> None:
    for rule in ("none", "all", *rules._KNOWN):
        assert read({"topology.optimization": rule}).topology_optimization == rule
