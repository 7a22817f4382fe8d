"""What may follow what in JSON Schema, with the reasons people read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from brookmere.registry.compatibility.json_schema import json_schema_differences
from brookmere.registry.schemas.json import JsonSchemaError, parse_json_schema

TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "number"}
LIST = {"properties": {"value": {"type": "integer"}, "next": {"$ref": "#"}}}


def closed(required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    made = {"type": "object", "properties": properties, "additionalProperties": False}
    return made if required is None else {**made, "required": required}


def differences(reader: Any, writer: Any) -> list[str]:
    return json_schema_differences(
        parse_json_schema(json.dumps(reader), {}), parse_json_schema(json.dumps(writer), {})
    )


@pytest.mark.parametrize(
    ("reader", "writer"),
    [
        ({}, TEXT),
        (True, TEXT),
        (TEXT, False),
        (NUMBER, {"type": "integer"}),
        ({"type": ["string", "null"]}, TEXT),
        ({"enum": ["a", "b"]}, {"enum": ["a"]}),
        ({"enum": ["a", "b"]}, {"const": "a"}),
        (TEXT, {"enum": ["a"]}),
        ({"minimum": 1}, {"type": "integer", "minimum": 2}),
        ({"minimum": 1}, {"exclusiveMinimum": 1}),
        ({"minimum": 1, "exclusiveMinimum": True}, {"minimum": 2}),
        ({"maximum": 9}, {"enum": [3, 9]}),
        ({"multipleOf": 2}, {"multipleOf": 4}),
        ({"multipleOf": 1}, {"type": "integer"}),
        ({"minimum": 5}, TEXT),
        ({**TEXT, "maxLength": 9}, {**TEXT, "maxLength": 5}),
        ({**TEXT, "pattern": "^a"}, {**TEXT, "pattern": "^a", "minLength": 3}),
        ({**TEXT, "pattern": "^a"}, {"enum": ["ab", "ac"]}),
        ({**TEXT, "title": "new", "description": "new", "default": "x"}, TEXT),
        ({"type": "array", "items": NUMBER}, {"type": "array", "items": {"type": "integer"}}),
        ({"type": "array", "minItems": 1}, {"type": "array", "minItems": 2, "uniqueItems": True}),
        (
            {"type": "array", "items": {"type": ["string", "integer"]}},
            {"type": "array", "prefixItems": [TEXT], "items": {"type": "integer"}},
        ),
        ({"type": "object"}, {"type": "object", "required": ["a"]}),
        (closed(a=TEXT, b=TEXT), closed(a=TEXT)),
        (closed(["a"], a=TEXT), closed(["a", "b"], a=TEXT, b=False)),
        ({"type": "object", "properties": {"a": TEXT}}, closed(a=TEXT)),
        ({"type": "object", "additionalProperties": TEXT}, closed(a=TEXT, b={"const": "x"})),
        ({"patternProperties": {"^a": TEXT}}, closed(ab=TEXT)),
        ({"patternProperties": {"^a": TEXT}}, {"patternProperties": {"^a": {"const": "x"}}}),
        ({"anyOf": [TEXT, NUMBER]}, TEXT),
        ({"anyOf": [TEXT, NUMBER]}, {"type": ["string", "integer"]}),
        ({"anyOf": [TEXT, NUMBER, {"type": "null"}]}, {"anyOf": [NUMBER, TEXT]}),
        ({"oneOf": [{"type": "null"}, TEXT]}, TEXT),
        ({"oneOf": [TEXT, NUMBER, {"type": "null"}]}, {"oneOf": [TEXT, NUMBER]}),
        ({"type": ["string", "number"]}, {"oneOf": [TEXT, NUMBER]}),
        (
            {"oneOf": [closed(["k"], k={"const": "x"}), closed(["k"], k={"const": "y"})]},
            closed(["k"], k={"const": "x"}),
        ),
        ({"allOf": [TEXT, {"minLength": 1}]}, {**TEXT, "minLength": 2}),
        ({**TEXT, "minLength": 2}, {"allOf": [TEXT, {"minLength": 2}]}),
        ({"$ref": "#/$defs/t", "$defs": {"t": TEXT}}, TEXT),
        (TEXT, {"$ref": "#/definitions/t", "definitions": {"t": TEXT}}),
        (LIST, LIST),
        ({**LIST, "title": "x"}, LIST),
        (
            {"properties": {"value": NUMBER, "next": {"$ref": "#"}}},
            {"properties": {"value": {"type": "integer"}, "next": {"$ref": "#"}}},
        ),
        ({**TEXT, "not": {"const": "x"}}, {**TEXT, "not": {"const": "x"}, "minLength": 1}),
        ({"if": TEXT, "then": {"minLength": 1}}, {"if": TEXT, "then": {"minLength": 1}, "type": "string"}),
    ],
    ids=json.dumps,
)
def test_it_can_be_read(reader: Any, writer: Any) -> None:
    assert differences(reader, writer) == []


@pytest.mark.parametrize(
    ("reader", "writer", "reason"),
    [
        (False, TEXT, "no value is allowed any longer"),
        ({"type": "integer"}, NUMBER, "values of the type number are no longer allowed"),
        (TEXT, {"type": ["string", "null"]}, "values of the type null are no longer allowed"),
        ({"enum": ["a"]}, {"enum": ["a", "b"]}, 'values are no longer allowed: "b"'),
        ({"enum": ["a"]}, TEXT, 'only listed values are now allowed: ["a"]'),
        ({"const": 1}, {"const": True}, "values are no longer allowed: true"),
        ({"minimum": 2}, {"type": "integer", "minimum": 1}, "numbers must now be at least 2"),
        ({"exclusiveMinimum": 1}, {"minimum": 1}, "numbers must now be more than 1"),
        ({"maximum": 5}, NUMBER, "numbers must now be at most 5"),
        ({"multipleOf": 4}, {"type": "integer", "multipleOf": 2}, "numbers must now be multiples of 4"),
        ({"minLength": 1}, TEXT, "strings must now have at least 1 characters"),
        ({"maxLength": 5}, {**TEXT, "maxLength": 9}, "strings must now have at most 5 characters"),
        ({"pattern": "^a"}, TEXT, "strings must now match '^a'"),
        ({"format": "date"}, TEXT, "strings must now have the format 'date'"),
        (
            {"items": TEXT},
            {"type": "array"},
            "[]: values of the type array, boolean, integer, null, number, object are no longer allowed",
        ),
        ({"uniqueItems": True}, {"type": "array"}, "the items of arrays must now be unique"),
        ({"maxItems": 1}, {"type": "array", "maxItems": 2}, "arrays must now have at most 1 items"),
        ({"required": ["a"]}, {"type": "object"}, "the property 'a' is now required"),
        (
            {"type": "object", "properties": {"a": TEXT}},
            {"type": "object"},
            "a: values of the type array, boolean, integer, null, number, object are no longer allowed",
        ),
        (closed(), closed(a=TEXT), "a: no value is allowed any longer"),
        (
            closed(),
            {"type": "object"},
            "*: properties that the schema does not name are no longer allowed",
        ),
        (
            {"type": "object", "additionalProperties": TEXT},
            {"type": "object", "additionalProperties": NUMBER},
            "*: properties that the schema does not name may not fit",
        ),
        (
            closed(a=closed(["x"], x=NUMBER)),
            closed(a=closed(x=NUMBER)),
            "a: the property 'x' is now required",
        ),
        ({"anyOf": [NUMBER]}, TEXT, "there are values that fit none of the alternatives of anyOf"),
        ({"oneOf": [NUMBER]}, TEXT, "there are values that fit none of the alternatives of oneOf"),
        (
            {"oneOf": [TEXT, {"minLength": 3}]},
            TEXT,
            "there may be values that fit several of the alternatives of oneOf",
        ),
        ({"not": {"const": "x"}}, TEXT, "'not' is new or changed, and its meaning is not checked"),
        (
            {"dependentRequired": {"a": ["b"]}},
            {"type": "object"},
            "'dependentRequired' is new or changed, and its meaning is not checked",
        ),
        (
            {"unevaluatedProperties": False},
            {"type": "object"},
            "'unevaluatedProperties' is supported only if the whole schema stays unchanged",
        ),
        ({"$ref": "#"}, TEXT, "a reference refers back to itself"),
    ],
    ids=json.dumps,
)
def test_it_cannot_be_read_and_the_reason_names_the_part(reader: Any, writer: Any, reason: str) -> None:
    assert reason in differences(reader, writer)


def test_a_recursive_schema_that_narrows_is_noticed() -> None:
    narrow = {"properties": {"value": {"type": "integer", "minimum": 0}, "next": {"$ref": "#"}}}

    assert "value: numbers must now be at least 0" in differences(narrow, LIST)


def test_keywords_next_to_a_reference_are_ignored() -> None:
    # Older drafts ignore it, so the writer may have written longer texts.
    writer = {"$ref": "#/definitions/t", "maxLength": 3, "definitions": {"t": TEXT}}

    assert differences({**TEXT, "maxLength": 3}, writer) == ["strings must now have at most 3 characters"]


def test_other_documents_are_followed() -> None:
    number, text = (
        {"money.json": json.dumps({"$defs": {"m": NUMBER}})},
        {"money.json": json.dumps({"$defs": {"m": TEXT}})},
    )
    schema = json.dumps({"properties": {"price": {"$ref": "money.json#/$defs/m"}}})

    assert json_schema_differences(parse_json_schema(schema, number), parse_json_schema(schema, number)) == []
    assert json_schema_differences(parse_json_schema(schema, number), parse_json_schema(schema, text)) == [
        "price: values of the type string are no longer allowed"
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[]", "expected an object or a boolean"),
        ('{"type": "text"}', "'type' cannot be"),
        ('{"properties": {"a": 1}}', "the schema.properties.a: expected an object or a boolean"),
        ('{"required": "a"}', "'required' cannot be"),
        ('{"minLength": -1}', "'minLength' cannot be -1"),
        ('{"$ref": "#/$defs/none"}', "the reference '#/$defs/none' has no target"),
        ('{"$ref": "other.json"}', "add it to the references"),
        ('{"patternProperties": {"(": {}}}', "the property pattern '(' is invalid"),
        ('{"$schema": "http://json-schema.org/draft-03/schema#"}', "draft 3"),
    ],
)
def test_an_invalid_schema_is_refused_with_the_position(text: str, reason: str) -> None:
    with pytest.raises(JsonSchemaError) as refusal:
        parse_json_schema(text, {})

    assert reason in str(refusal.value)


def test_references_by_id_and_anchor_are_followed() -> None:
    text = json.dumps(
        {
            "$id": "http://x/root.json",
            "properties": {
                "a": {"$ref": "inner.json"},
                "b": {"$ref": "#name"},
                "c": {"$ref": "root.json#/$defs/n"},
            },
            "$defs": {"i": {"$id": "inner.json", **TEXT}, "n": {"$anchor": "name", **NUMBER}},
        }
    )

    node = parse_json_schema(text, {})

    assert node.resolve("inner.json").tree["type"] == "string"
    assert node.resolve("#name").tree["type"] == "number"
    assert node.resolve("root.json#/$defs/n").tree["type"] == "number"
