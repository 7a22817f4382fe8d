"""The client asks a registry, remembers what never changes, and explains what went wrong."""

from __future__ import annotations

import pickle
import uuid

import pytest

from brookmere.errors import RegistryError, UnknownSchemaError
from brookmere.registry import RegistryClient
from brookmere.registry.server.mock import mock_registry

ORDER = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "string"}]}'
PROTO = 'syntax = "proto3"; message Order { string id = 1; }'


@pytest.fixture
def registry() -> RegistryClient:
    return RegistryClient(f"mock://{uuid.uuid4()}")


def test_a_registered_schema_is_found_by_its_id(registry: RegistryClient) -> None:
    number = registry.register("orders-value", ORDER)

    found = registry.schema(number)

    assert found.type == "AVRO"
    assert '"name":"Order"' in found.text
    assert found.references == ()


def test_the_same_schema_has_the_same_id_everywhere(registry: RegistryClient) -> None:
    first = registry.register("a-value", ORDER)

    assert registry.register("b-value", ORDER.replace(" ", "")) == first
    assert registry.register("c-value", PROTO, "PROTOBUF") != first


def test_a_schema_is_looked_up_without_being_registered(registry: RegistryClient) -> None:
    number = registry.register("orders-value", ORDER)

    assert registry.lookup("orders-value", ORDER) == number
    with pytest.raises(UnknownSchemaError, match="40403"):
        registry.lookup("orders-value", '"string"')


def test_the_latest_version_is_not_cached(registry: RegistryClient) -> None:
    registry.set_compatibility("NONE")
    registry.register("orders-value", '"string"')
    assert registry.latest("orders-value").version == 1

    number = registry.register("orders-value", ORDER)

    assert registry.latest("orders-value")[:3] == (2, number, "AVRO")
    assert registry.versions("orders-value") == [1, 2]
    assert registry.subjects() == ["orders-value"]


def test_clients_of_one_mock_address_share_a_registry(registry: RegistryClient) -> None:
    number = registry.register("orders-value", ORDER)

    other = RegistryClient(registry.url)

    assert other.lookup("orders-value", ORDER) == number
    assert RegistryClient(f"{registry.url}-other").subjects() == []


def test_what_was_answered_once_is_not_asked_again(
    registry: RegistryClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = registry.register("orders-value", ORDER)
    registry.schema(number)
    monkeypatch.setattr(registry, "_transport", None)

    assert registry.register("orders-value", ORDER) == number
    assert registry.schema(number).type == "AVRO"


def test_a_schema_may_refer_to_another(registry: RegistryClient) -> None:
    registry.register("order", ORDER)
    text = '{"type": "record", "name": "Pair", "fields": [{"name": "first", "type": "Order"}]}'

    number = registry.register("pair", text, references=[("Order", "order", 1)])

    assert registry.schema(number).references == (("Order", "order", 1),)
    assert registry.version("order", 1)[1].text == registry.latest("order").text


def test_an_unknown_subject_says_what_to_do(registry: RegistryClient) -> None:
    with pytest.raises(UnknownSchemaError) as refusal:
        registry.latest("orders-value")

    assert str(refusal.value) == (
        f"The schema registry {registry.url} did not give the latest schema of 'orders-value'. "
        "Found: Subject 'orders-value' not found (HTTP status 404, error code 40401). "
        "Register a schema under this subject first, or correct its name."
    )
    assert refusal.value.code == 40401


def test_an_invalid_schema_is_refused_with_the_registrys_words(registry: RegistryClient) -> None:
    with pytest.raises(RegistryError, match="42201"):
        registry.register("orders-value", '{"type": "rekord"}')
    with pytest.raises(RegistryError, match="line 1, column 14"):
        registry.register("orders-value", "message A {} syntax", "PROTOBUF")


def test_an_invalid_address_is_refused() -> None:
    with pytest.raises(RegistryError, match="http://localhost:8081"):
        RegistryClient("localhost:8081")
    with pytest.raises(RegistryError, match="is empty"):
        RegistryClient("")


def test_an_unreachable_address_is_reported_with_the_remedy() -> None:
    registry = RegistryClient("http://127.0.0.1:1,http://user:secret@localhost:1", timeout="5s")

    with pytest.raises(RegistryError) as failure:
        registry.subjects()

    assert "http://127.0.0.1:1,http://localhost:1 does not answer" in str(failure.value)
    assert "brookmere registry up" in str(failure.value)
    assert "secret" not in str(failure.value) + repr(registry)


def test_a_client_survives_pickling(registry: RegistryClient) -> None:
    number = registry.register("orders-value", ORDER)

    again = pickle.loads(pickle.dumps(registry))

    assert again == registry
    assert hash(again) == hash(registry)
    assert again.lookup("orders-value", ORDER) == number


def test_a_mock_registry_is_the_same_object_for_its_name() -> None:
    assert mock_registry("one") is mock_registry("one")
    assert mock_registry("one") is not mock_registry("two")
