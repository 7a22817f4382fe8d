"""JSON Schema in Python: the type that it says, the schema of a dataclass, and what is refused."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from brookmere.errors import TopologyError
from brookmere.serde import BadBytes
from brookmere.serde.json.json_schema import JsonSchema


@dataclass
class Order:
    id: int
    tags: list[str]
    note: str | None = None


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def test_a_dataclass_gives_a_schema_and_comes_back() -> None:
    serde = JsonSchema(Order)

    schema = json.loads(serde.text or "")

    assert (schema["title"], schema["required"]) == ("Order", ["id", "tags"])
    assert schema["properties"]["note"] == {"type": ["string", "null"]}
    assert serde.serialize(Order(1, ["a"])) == b'{"id":1,"tags":["a"]}'
    assert serde.deserialize(b'{"id":1,"tags":["a"]}') == Order(1, ["a"])


def test_ddl_gives_a_schema() -> None:
    schema = json.loads(
        JsonSchema("id bigint not null, at timestamp, raw binary, m map<string,double>").text or ""
    )

    assert schema["required"] == ["id"]
    assert schema["properties"]["at"] == {"type": ["string", "null"], "format": "date-time"}
    assert schema["properties"]["m"]["additionalProperties"] == {"type": ["number", "null"]}


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ("{", "it is not JSON"),
        (of(a={}), "value.a has no type"),
        (of(a=True), "value.a may be anything"),
        (of(a={"type": "object"}), "value.a is an object of anything"),
        (of(a={"type": "array"}), "value.a is an array of anything"),
        (of(a={"type": ["string", "integer"]}), "value.a is string or integer"),
        (of(a={"anyOf": [{"type": "string"}, {"type": "integer"}]}), "value.a is anyOf 2 schemas"),
        (of(a={"allOf": [{"type": "string"}, {"minLength": 1}]}), "value.a is allOf 2 schemas"),
        (of(a={"$ref": "#/definitions/x"}), "which is not there"),
        (of(a={"$ref": "http://example.com/x"}), "in another document"),
        ({**of(a={"$ref": "#"})}, "value.a.a is a # inside a #"),
        (of(a={"type": "text"}), "which JSON Schema does not have"),
        ({"type": "string"}, "the outermost value must be"),
        (3, "found int"),
    ],
)
def test_what_has_no_type_is_refused_with_its_path(schema: Any, words: str) -> None:
    with pytest.raises(TopologyError, match=words):
        JsonSchema(schema)


def test_values_that_are_no_json_are_refused() -> None:
    serde = JsonSchema(of(a={"type": "integer"}))

    with pytest.raises(TypeError, match="JsonSchema writes"):
        serde.serialize("x")
    with pytest.raises(BadBytes, match="expected an object or an array"):
        serde.deserialize(b'"x"')
