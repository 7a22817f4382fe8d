"""Texts become Avro types with resolved names, and one text again; what is none is refused with the place."""

from __future__ import annotations

import json

import fastavro
import pytest

from brookmere.registry.schemas.avro import AvroSchemaError, avro_text, parse_avro


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("string", '"string"'),
        ('{"type": "string"}', '"string"'),
        ('{"type": {"type": "int"}}', '"int"'),
        ('{"logicalType": "date", "type": "int"}', '{"type":"int","logicalType":"date"}'),
        ('["null", {"type": "long"}]', '["null","long"]'),
        (
            '{"fields": [], "type": "record", "doc": "d", "name": "a.b.C", "x": 1}',
            '{"type":"record","name":"C","namespace":"a.b","doc":"d","fields":[],"x":1}',
        ),
        (
            (
                '{"type": "record", "name": "A", "namespace": "n", "aliases": ["B", "m.C"], "fields": ['
                '{"type": "n.A", "name": "self", "order": "ignore"},'
                '{"name": "e", "type": {"type": "enum", "name": "E", "symbols": ["X"], "default": "X"}},'
                '{"name": "f", "type": {"type": "fixed", "name": "F", "namespace": "m", "size": 2}},'
                '{"name": "again", "type": "m.F", "aliases": ["old"], "default": "\\u00ff\\u0001"}]}'
            ),
            (
                '{"type":"record","name":"A","namespace":"n","fields":['
                '{"name":"self","type":"A","order":"ignore"},'
                '{"name":"e","type":{"type":"enum","name":"E","symbols":["X"],"default":"X"}},'
                '{"name":"f","type":{"type":"fixed","name":"F","namespace":"m","size":2}},'
                '{"name":"again","type":"m.F","default":"ÿ\\u0001","aliases":["old"]}],'
                '"aliases":["B","m.C"]}'
            ),
        ),
    ],
)
def test_there_is_one_text_for_one_meaning(text: str, canonical: str) -> None:
    assert avro_text(parse_avro(text)) == canonical
    assert avro_text(parse_avro(canonical)) == canonical
    fastavro.parse_schema(json.loads(canonical))


def test_properties_are_sorted_on_request() -> None:
    text = '{"type": "int", "z": 1, "a": 2}'

    assert avro_text(parse_avro(text)) == '{"type":"int","z":1,"a":2}'
    assert avro_text(parse_avro(text), normalized=True) == '{"type":"int","a":2,"z":1}'


def test_types_from_elsewhere_stay_names() -> None:
    named = {}  # type: ignore[var-annotated]
    parse_avro('{"type":"fixed","name":"n.F","size":1}', named)
    text = '{"type":"array","items":"n.F"}'

    assert avro_text(parse_avro(text, named), known=["n.F"]) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "it is not valid JSON"),
        ("3", "expected a type"),
        ('{"name": "A"}', "a type without 'type'"),
        ('"nothing"', "the type 'nothing' is not defined"),
        ('{"type": "array"}', "'items' is missing"),
        ('{"type": "record", "name": "A"}', "'fields' must be a list"),
        ('{"type": "record", "fields": []}', "expected a name of letters, digits and _"),
        ('{"type": "record", "name": "1", "fields": []}', "expected a name of letters, digits and _"),
        ('{"type": "record", "name": "int", "fields": []}', "is the name of a primitive type"),
        ('{"type": "record", "name": "A", "fields": [{"type": "int"}]}', "expected a field with a name"),
        ('{"type": "record", "name": "A", "fields": [{"name": "a", "type": "B"}]}', "A.a: the type 'B'"),
        (
            '{"type": "record", "name": "A", "fields": [{"name":"a","type":"int"}, {"name":"a","type":[]}]}',
            "A.a: two fields have this name",
        ),
        (
            '{"type": "record", "name": "A", "fields": [{"name": "a", "type": "int", "default": "x"}]}',
            'A.a: the default "x" does not fit its type',
        ),
        ('[["null"]]', "a union directly contains another union"),
        ('["int", "int"]', "'int' appears twice in a union"),
        ('{"type": "enum", "name": "E", "symbols": ["A", "A"]}', "a list of distinct names"),
        ('{"type": "enum", "name": "E", "symbols": ["A"], "default": "B"}', "is not one of its symbols"),
        ('{"type": "fixed", "name": "F", "size": -1}', "a number of bytes"),
        (
            '[{"type": "fixed", "name": "F", "size": 1}, {"type": "fixed", "name": "F", "size": 1}]',
            "the type 'F' is defined twice",
        ),
    ],
)
def test_an_invalid_schema_is_refused_with_the_position(text: str, reason: str) -> None:
    with pytest.raises(AvroSchemaError) as refusal:
        parse_avro(text)

    assert reason in str(refusal.value)


@pytest.mark.parametrize(
    ("type", "default"),
    [
        ('["null", "string"]', "null"),
        ('["null", "string"]', '"x"'),
        ('{"type": "array", "items": "int"}', "[1]"),
        ('{"type": "map", "values": "boolean"}', '{"a": true}'),
        ('{"type": "record", "name": "B", "fields": [{"name": "x", "type": "int", "default": 1}]}', "{}"),
        ('"double"', "1"),
        ('"bytes"', '"\\u00ff"'),
    ],
)
def test_defaults_may_be_of_any_type(type: str, default: str) -> None:
    field = f'{{"name": "a", "type": {type}, "default": {default}}}'

    parse_avro(f'{{"type": "record", "name": "A", "fields": [{field}]}}')
