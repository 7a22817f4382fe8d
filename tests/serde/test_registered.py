"""Serdes and their registry: subjects by strategy, schemas by id, and what does not fit together."""

from __future__ import annotations

from typing import Any

import pytest

from brookmere.errors import ConfigError, TopologyError, UnknownSchemaError
from brookmere.registry import RegistryClient
from brookmere.serde import BadBytes, Registry, Windowed
from brookmere.serde.avro.avro import Avro
from brookmere.serde.json.json_schema import JsonSchema

PAIR = {"type": "record", "name": "Pair", "namespace": "n", "fields": [{"name": "a", "type": "int"}]}


@pytest.mark.parametrize(
    ("subject", "is_key", "expected"),
    [
        ("topic", False, "orders-value"),
        ("topic", True, "orders-key"),
        ("record", False, "n.Pair"),
        ("topic_record", True, "orders-n.Pair"),
        ("mine", False, "mine"),
    ],
)
def test_the_subject_follows_the_strategy(subject: str, is_key: bool, expected: str) -> None:
    registry = f"mock://strategy-{subject}-{is_key}"
    serde = Avro(PAIR, registry=registry, subject=subject).for_topic("orders", is_key=is_key)

    serde.serialize({"a": 1})

    assert RegistryClient(registry).subjects() == [expected]


def test_a_key_inside_a_window_has_the_subject_of_the_topic() -> None:
    serde = Windowed(Avro(PAIR, registry="mock://w")).for_topic("orders", is_key=True)

    assert isinstance(serde, Windowed)
    assert serde.inner == Avro(PAIR, registry="mock://w", subject="orders-key")


def test_the_frame_is_a_zero_and_the_id() -> None:
    serde = Avro(PAIR, registry="mock://frame", subject="s")

    data = serde.serialize({"a": 1})

    assert data == b"\0\0\0\0\1\2"
    assert serde.deserialize(data) == {"a": 1}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\0\0", "found 2 bytes"),
        (b"\1\0\0\0\1\2", "found 0x01"),
        (b"\0\0\0\0\x63\2", "no schema with the id 99"),
        (b"\0\0\0\0\2\2", "of the kind JSON, expected AVRO"),
    ],
)
def test_a_wrong_frame_is_refused(data: bytes, words: str) -> None:
    Avro(PAIR, registry="mock://wrong-frame", subject="s").serialize({"a": 1})
    JsonSchema("a int", registry="mock://wrong-frame", subject="j").serialize({"a": 1})

    with pytest.raises(BadBytes, match=words):
        Avro(PAIR, registry="mock://wrong-frame", subject="s").deserialize(data)


def test_without_a_schema_the_newest_of_the_subject_counts() -> None:
    data = Avro(PAIR, registry="mock://newest", subject="s").serialize({"a": 1})
    newest = Avro(registry="mock://newest", subject="s")

    assert newest.deserialize(data) == {"a": 1}
    assert newest.serialize({"a": 1}) == data
    with pytest.raises(UnknownSchemaError):
        Avro(registry="mock://newest", subject="other").serialize({"a": 1})
    with pytest.raises(TopologyError, match="of the kind AVRO, not JSON"):
        JsonSchema(registry="mock://newest", subject="s").serialize({"a": 1})


def test_a_serde_without_a_registry_takes_that_of_the_application() -> None:
    registry = Registry("mock://default")

    assert Avro(PAIR).for_topic("t", is_key=False, registry=registry) == Avro(
        PAIR, registry=registry, subject="t-value"
    )
    assert (
        Avro(PAIR, registry=False).for_topic("t", is_key=False, registry=registry).serialize({"a": 1})
        == b"\2"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"registry": 8081}, "is an address or a Registry: found int"),
        ({"registry": "localhost:8081"}, "is not an address: found 'localhost:8081'"),
        ({"subject": ""}, "is a strategy or the name of a subject"),
        ({"subject": "topic-record"}, "Did you mean 'topic_record'"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(TopologyError, match=words):
        Avro(PAIR, **arguments)


@pytest.mark.parametrize("serde", [Avro(), Avro(PAIR, subject="record"), Avro(PAIR, register=False)])
def test_what_only_a_registry_can_do_needs_one(serde: Avro) -> None:
    with pytest.raises(TopologyError, match="needs a registry"):
        serde.serialize({"a": 1})


def test_a_topic_must_be_known_where_it_names_the_subject() -> None:
    with pytest.raises(TopologyError, match="does not know the topic"):
        Avro(PAIR, registry="mock://unknown-topic").serialize({"a": 1})


def test_secrets_are_looked_up_late_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry("http://ada:pw@localhost:8081", basic_auth=("${env:WHO}", "${env:PASSWORD}"))

    assert repr(registry) == "Registry('http://localhost:8081')"
    with pytest.raises(ConfigError, match="PASSWORD"):
        registry.access()
    monkeypatch.setenv("WHO", "ada")
    monkeypatch.setenv("PASSWORD", "s3cret")
    assert registry.access() == ("http://ada:pw@localhost:8081", ("ada", "s3cret"))
