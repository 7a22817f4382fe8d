"""The REST interface has Confluent's paths, shapes and error codes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from brookmere.registry.server.catalog import Catalog
from brookmere.registry.server.rest import answer

RECORD = '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"string"}]}'
WIDER = RECORD.replace("]}", ',{"name":"n","type":"int","default":0}]}')
NARROW = RECORD.replace("]}", ',{"name":"n","type":"int"}]}')


class Registry:
    """Asks a registry without a network."""

    def __init__(self) -> None:
        self.catalog = Catalog()

    def __call__(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        return answer(self.catalog, method, path, b"" if body is None else json.dumps(body).encode())

    def add(self, subject: str, text: str, **fields: Any) -> int:
        status, content = self("POST", f"/subjects/{subject}/versions", {"schema": text, **fields})
        assert status == 200, content
        return int(content["id"])

    def code(self, method: str, path: str, body: Any = None) -> tuple[int, int]:
        status, content = self(method, path, body)
        return status, content["error_code"]


@pytest.fixture
def ask() -> Registry:
    return Registry()


def test_a_new_registry_is_empty(ask: Registry) -> None:
    assert ask("GET", "/") == (200, {})
    assert ask("GET", "/subjects") == (200, [])
    assert ask("GET", "/schemas/types") == (200, ["JSON", "PROTOBUF", "AVRO"])
    assert ask("GET", "/config") == (200, {"compatibilityLevel": "BACKWARD"})
    assert ask("GET", "/mode") == (200, {"mode": "READWRITE"})


def test_versions_and_schemas_have_the_known_shapes(ask: Registry) -> None:
    first, second = ask.add("orders-value", RECORD), ask.add("orders-value", WIDER)

    assert ask("GET", "/subjects/orders-value/versions") == (200, [1, 2])
    assert ask("GET", f"/schemas/ids/{first}") == (200, {"schema": RECORD})
    assert ask("GET", f"/schemas/ids/{first}/schema") == (200, json.loads(RECORD))
    assert ask("GET", f"/schemas/ids/{first}/subjects") == (200, ["orders-value"])
    assert ask("GET", f"/schemas/ids/{second}/versions") == (200, [{"subject": "orders-value", "version": 2}])
    latest = {"subject": "orders-value", "version": 2, "id": second, "schema": WIDER}
    assert ask("GET", "/subjects/orders-value/versions/latest") == (200, latest)
    assert ask("GET", "/subjects/orders-value/versions/2") == (200, latest)
    assert ask("GET", "/subjects/orders-value/versions/1/schema") == (200, json.loads(RECORD))
    assert ask("POST", "/subjects/orders-value", {"schema": WIDER}) == (200, latest)
    assert ask("GET", "/schemas?latestOnly=true") == (200, [latest])


def test_the_kind_is_shown_unless_it_is_avro(ask: Registry) -> None:
    id = ask.add("a", '{"type": "string"}', schemaType="JSON")

    assert ask("GET", f"/schemas/ids/{id}") == (200, {"schemaType": "JSON", "schema": '{"type":"string"}'})


def test_the_same_schema_is_registered_once(ask: Registry) -> None:
    spaced = json.dumps(json.loads(RECORD), indent=2)
    qualified = RECORD.replace('"Order","namespace":"shop"', '"shop.Order"')

    ids = {ask.add(subject, text) for subject in ("a", "b") for text in (RECORD, spaced, qualified)}

    assert ids == {1}
    assert ask("GET", "/subjects/a/versions") == (200, [1])


@pytest.mark.parametrize(
    ("method", "path", "body", "expected"),
    [
        ("GET", "/subjects/no/versions", None, (404, 40401)),
        ("GET", "/subjects/no/versions/latest", None, (404, 40401)),
        ("DELETE", "/subjects/no", None, (404, 40401)),
        ("POST", "/subjects/no", {"schema": RECORD}, (404, 40401)),
        ("GET", "/subjects/a/versions/7", None, (404, 40402)),
        ("DELETE", "/subjects/a/versions/7", None, (404, 40402)),
        ("GET", "/schemas/ids/7", None, (404, 40403)),
        ("GET", "/schemas/ids/7/versions", None, (404, 40403)),
        ("POST", "/subjects/a", {"schema": '"int"'}, (404, 40403)),
        ("DELETE", "/subjects/a?permanent=true", None, (404, 40405)),
        ("DELETE", "/subjects/a/versions/1?permanent=true", None, (404, 40407)),
        ("GET", "/config/a", None, (404, 40408)),
        ("GET", "/mode/a", None, (404, 40409)),
        ("POST", "/subjects/a/versions", {"schema": "{"}, (422, 42201)),
        ("POST", "/subjects/a/versions", {"schema": ""}, (422, 42201)),
        ("POST", "/subjects/a/versions", {"schema": "{", "schemaType": "JSON"}, (422, 42201)),
        ("POST", "/subjects/a/versions", {"schema": "messag A", "schemaType": "PROTOBUF"}, (422, 42201)),
        ("POST", "/subjects/a/versions", {"schema": RECORD, "schemaType": "XML"}, (422, 422)),
        ("POST", "/subjects/a/versions", {"schema": RECORD, "references": [{"name": "x"}]}, (422, 422)),
        (
            "POST",
            "/subjects/a/versions",
            {"schema": RECORD, "references": [{"name": "x", "subject": "x", "version": 1}]},
            (422, 42201),
        ),
        ("POST", "/subjects/a/versions", [], (422, 422)),
        ("GET", "/subjects/a/versions/zero", None, (422, 42202)),
        ("GET", "/subjects/a/versions/0", None, (422, 42202)),
        ("PUT", "/config", {"compatibility": "SOME"}, (422, 42203)),
        ("PUT", "/mode", {"mode": "SOME"}, (422, 42204)),
        ("POST", "/subjects/a/versions", {"schema": RECORD, "id": 9}, (422, 42205)),
        ("POST", "/subjects/a/versions", {"schema": WIDER, "id": 9}, (422, 42205)),
        ("POST", "/subjects/a/versions", {"schema": NARROW}, (409, 409)),
        ("POST", "/subjects/a/versions", {"schema": "[" * 99999, "schemaType": "JSON"}, (422, 42201)),
        ("POST", "/subjects/a/versions", {"schema": "[" * 99999}, (422, 42201)),
        (
            "POST",
            "/subjects/a/versions",
            {"schema": "message A {" * 9999, "schemaType": "PROTOBUF"},
            (422, 42201),
        ),
        ("POST", "/subjects/a/versions", {"schema": RECORD, "ruleSet": {"domainRules": []}}, (422, 422)),
        ("PUT", "/config/a", {"compatibility": "NONE", "normalize": True}, (422, 422)),
        ("GET", "/nothing", None, (404, 404)),
        ("PUT", "/subjects", {}, (405, 405)),
    ],
)
def test_refusals_have_confluents_codes(
    ask: Registry, method: str, path: str, body: Any, expected: tuple[int, int]
) -> None:
    ask.add("a", RECORD)

    assert ask.code(method, path, body) == expected


def test_an_incompatible_schema_is_refused_with_its_reasons(ask: Registry) -> None:
    ask.add("a", RECORD)

    status, content = ask("POST", "/subjects/a/versions", {"schema": NARROW})

    assert status == 409
    assert "Order.n: the field has no default and is not in the data" in content["message"]
    assert "'BACKWARD'" in content["message"]


def test_compatibility_is_tested_without_registering(ask: Registry) -> None:
    ask.add("a", RECORD)
    path = "/compatibility/subjects/a/versions/latest"

    assert ask("POST", path, {"schema": WIDER}) == (200, {"is_compatible": True})
    assert ask("POST", f"{path}?verbose=true", {"schema": WIDER}) == (
        200,
        {"is_compatible": True, "messages": []},
    )
    status, content = ask("POST", f"{path}?verbose=true", {"schema": NARROW})
    assert (status, content["is_compatible"], len(content["messages"])) == (200, False, 1)
    assert ask("POST", "/compatibility/subjects/a/versions", {"schema": NARROW}) == (
        200,
        {"is_compatible": False},
    )
    assert ask("POST", "/compatibility/subjects/new/versions/latest", {"schema": NARROW})[1] == {
        "is_compatible": True
    }
    assert ask.code("POST", "/compatibility/subjects/a/versions/9", {"schema": NARROW}) == (404, 40402)
    assert ask("GET", "/subjects/a/versions") == (200, [1])


def test_levels_hold_for_a_subject_or_for_all(ask: Registry) -> None:
    ask.add("a", RECORD)

    assert ask("PUT", "/config/a", {"compatibility": "none"}) == (200, {"compatibility": "NONE"})
    ask.add("a", NARROW)
    assert ask("GET", "/config/a") == (200, {"compatibilityLevel": "NONE"})
    assert ask("PUT", "/config", {"compatibility": "FULL"}) == (200, {"compatibility": "FULL"})
    assert ask("GET", "/config/b?defaultToGlobal=true") == (200, {"compatibilityLevel": "FULL"})
    assert ask("DELETE", "/config/a") == (200, {"compatibilityLevel": "NONE"})
    assert ask("GET", "/config/a?defaultToGlobal=true") == (200, {"compatibilityLevel": "FULL"})
    assert ask.code("DELETE", "/config/a") == (404, 40401)
    assert ask("DELETE", "/config") == (200, {"compatibilityLevel": "FULL"})
    assert ask("GET", "/config") == (200, {"compatibilityLevel": "BACKWARD"})


def test_transitive_levels_look_at_all_versions(ask: Registry) -> None:
    # The first version has no n; the second has it with a default, the third without.
    ask.add("a", RECORD)
    ask.add("a", WIDER)
    narrow = {"schema": NARROW}

    assert ask("POST", "/compatibility/subjects/a/versions", narrow)[1] == {"is_compatible": True}
    ask("PUT", "/config/a", {"compatibility": "BACKWARD_TRANSITIVE"})
    assert ask("POST", "/compatibility/subjects/a/versions", narrow)[1] == {"is_compatible": False}
    assert ask.code("POST", "/subjects/a/versions", narrow) == (409, 409)


def test_deleting_a_version_takes_it_out_of_use_and_then_for_good(ask: Registry) -> None:
    first = ask.add("a", RECORD)
    ask.add("a", WIDER)

    assert ask("DELETE", "/subjects/a/versions/1") == (200, 1)
    assert ask("GET", "/subjects/a/versions") == (200, [2])
    assert ask("GET", "/subjects/a/versions?deleted=true") == (200, [1, 2])
    assert ask("GET", f"/schemas/ids/{first}") == (200, {"schema": RECORD})
    assert ask.code("GET", "/subjects/a/versions/1") == (404, 40402)
    assert ask("GET", "/subjects/a/versions/1?deleted=true")[0] == 200
    assert ask.code("DELETE", "/subjects/a/versions/1") == (404, 40406)
    assert ask("DELETE", "/subjects/a/versions/1?permanent=true") == (200, 1)
    assert ask.code("GET", f"/schemas/ids/{first}") == (404, 40403)
    assert ask("DELETE", "/subjects/a/versions/latest") == (200, 2)


def test_deleting_a_subject_gives_its_versions(ask: Registry) -> None:
    first = ask.add("a", RECORD)
    ask.add("a", WIDER)

    assert ask("DELETE", "/subjects/a") == (200, [1, 2])
    assert ask("GET", "/subjects") == (200, [])
    assert ask("GET", "/subjects?deleted=true") == (200, ["a"])
    assert ask.code("DELETE", "/subjects/a") == (404, 40404)
    assert ask.add("a", RECORD) == first
    assert ask("GET", "/subjects/a/versions") == (200, [3])
    assert ask("DELETE", "/subjects/a") == (200, [3])
    assert ask("DELETE", "/subjects/a?permanent=true") == (200, [1, 2, 3])
    assert ask("GET", "/subjects?deleted=true") == (200, [])
    assert ask.add("a", RECORD) == first


def test_a_schema_in_use_by_another_is_not_deleted(ask: Registry) -> None:
    ask.add("base", RECORD)
    text = '{"type":"record","name":"Pair","fields":[{"name":"one","type":"shop.Order"}]}'
    references = [{"name": "shop.Order", "subject": "base", "version": 1}]
    id = ask.add("pair", text, references=references)

    assert ask("GET", f"/schemas/ids/{id}") == (200, {"references": references, "schema": text})
    assert ask("GET", "/subjects/base/versions/1/referencedby") == (200, [id])
    assert ask.code("DELETE", "/subjects/base/versions/1") == (422, 42206)
    assert ask.code("DELETE", "/subjects/base") == (422, 42206)
    ask("DELETE", "/subjects/pair")
    assert ask("DELETE", "/subjects/base") == (200, [1])


def test_a_registry_for_reading_only_takes_nothing(ask: Registry) -> None:
    ask.add("a", RECORD)

    assert ask("PUT", "/mode/a", {"mode": "READONLY"}) == (200, {"mode": "READONLY"})

    assert ask.code("POST", "/subjects/a/versions", {"schema": WIDER}) == (422, 42205)
    assert ask.code("DELETE", "/subjects/a") == (422, 42205)
    ask.add("b", RECORD)
    assert ask("DELETE", "/mode/a") == (200, {"mode": "READONLY"})
    ask.add("a", WIDER)


def test_importing_keeps_ids_and_versions(ask: Registry) -> None:
    ask("PUT", "/mode/a", {"mode": "IMPORT"})

    assert ask.add("a", RECORD, id=100, version=5) == 100
    assert ask.add("b", WIDER) == 101
    assert ask("GET", "/subjects/a/versions") == (200, [5])
    assert ask.code("POST", "/subjects/a/versions", {"schema": NARROW, "id": 100}) == (422, 42205)
    assert ask.code("PUT", "/mode/b", {"mode": "IMPORT"}) == (422, 42205)
    assert ask("PUT", "/mode/b?force=true", {"mode": "IMPORT"}) == (200, {"mode": "IMPORT"})


def test_subjects_may_have_any_characters(ask: Registry) -> None:
    ask.add("a%2Fb%20%C3%A4", RECORD)

    assert ask("GET", "/subjects") == (200, ["a/b ä"])
    assert ask("GET", "/subjects?subjectPrefix=a%2F") == (200, ["a/b ä"])
    assert ask("GET", "/subjects?subjectPrefix=b") == (200, [])


def test_lists_are_given_in_pages(ask: Registry) -> None:
    for name in "abc":
        ask.add(name, RECORD)

    assert ask("GET", "/subjects?offset=1&limit=1") == (200, ["b"])
    assert ask("GET", "/subjects?offset=1&limit=-1") == (200, ["b", "c"])


def test_a_protobuf_descriptor_is_taken_and_given(ask: Registry) -> None:
    text = 'syntax = "proto3";\n\nmessage A {\n  string a = 1;\n}\n'
    id = ask.add("a", text, schemaType="PROTOBUF")

    status, content = ask("GET", f"/schemas/ids/{id}?format=serialized")

    assert status == 200
    assert ask("GET", f"/schemas/ids/{id}")[1] == {"schemaType": "PROTOBUF", "schema": text}
    assert ask.add("b", content["schema"], schemaType="PROTOBUF") == id


def test_protobuf_itself_looks_at_a_file(ask: Registry) -> None:
    text = 'syntax = "proto3"; enum A { X = 0; } enum B { X = 0; }'

    status, content = ask("POST", "/subjects/a/versions", {"schema": text, "schemaType": "PROTOBUF"})

    assert (status, content["error_code"]) == (422, 42201)
    assert "X" in content["message"]


def test_a_protobuf_file_may_import_others(ask: Registry) -> None:
    base = (
        'syntax = "proto3"; package base; import "google/protobuf/any.proto"; '
        "message M { google.protobuf.Any x = 1 [(rule) = { min: 1 }]; }"
    )
    text = 'syntax = "proto3"; import "base.proto"; message A { base.M m = 1; }'
    ask.add("base", base, schemaType="PROTOBUF")
    references = [{"name": "base.proto", "subject": "base", "version": 1}]

    id = ask.add("a", text, schemaType="PROTOBUF", references=references)

    assert ask("GET", f"/schemas/ids/{id}?format=serialized")[0] == 200
    assert ask.code("POST", "/subjects/b/versions", {"schema": text, "schemaType": "PROTOBUF"}) == (
        422,
        42201,
    )


def test_the_text_of_a_normalized_schema_does_not_depend_on_order(ask: Registry) -> None:
    one = '{"type": "object", "title": "A"}'
    other = '{"title": "A", "type": "object"}'
    status, content = ask(
        "POST", "/subjects/a/versions?normalize=true", {"schema": one, "schemaType": "JSON"}
    )
    assert status == 200

    assert (
        ask("POST", "/subjects/a?normalize=true", {"schema": other, "schemaType": "JSON"})[1]["id"]
        == (content["id"])
    )
