"""Stored values become JSON, without decoding where they are JSON already."""

from __future__ import annotations

import pytest

from brookmere.serde import Bytes, Double, Json, Long, Serde, Text
from brookmere.serde.avro.avro import Avro
from brookmere.serde.json.spark_json import SparkJson
from brookmere.serve.answers.raw_values import raw_writer
from brookmere.state import StoreInfo

STRUCT = '{"type":"struct","fields":[{"name":"n","type":"long","nullable":true,"metadata":{}}]}'


def written(serde: Serde, data: bytes | None, *, is_source: bool = False) -> bytes:
    assert data is not None
    return raw_writer(StoreInfo("s", "key_value", "t", Text(), serde, is_source=is_source), serde)(data)


@pytest.mark.parametrize("serde", [Json("n bigint"), SparkJson(STRUCT)])
def test_the_json_of_a_changelog_goes_out_as_it_is(serde: Serde) -> None:
    assert written(serde, b'{"n": 1, "more": 2}') == b'{"n": 1, "more": 2}'


def test_what_others_wrote_goes_out_as_the_program_sees_it() -> None:
    assert written(SparkJson(STRUCT), b'{"n": 1, "more": 2}', is_source=True) == b'{"n":1}'


def test_a_value_that_is_a_member_goes_out_without_its_name() -> None:
    assert written(SparkJson('"date"', member="value"), b'{"value":"2024-02-29"}') == b'"2024-02-29"'


@pytest.mark.parametrize(
    ("serde", "value", "expected"),
    [
        (Text(), 'a "b"\n', b'"a \\"b\\"\\n"'),
        (Long(), -(2**63), b"-9223372036854775808"),
        (Double(), float("inf"), b'"Infinity"'),
        (Bytes(), b"\x00\xff", b'"AP8="'),
        (Avro('{"type": "array", "items": "int"}'), [1, 2], b"[1,2]"),
    ],
)
def test_other_values_are_decoded(serde: Serde, value: object, expected: bytes) -> None:
    assert written(serde, serde.serialize(value)) == expected


def test_a_serde_with_a_registry_may_take_long() -> None:
    schema = '{"type": "record", "name": "R", "fields": [{"name": "n", "type": "int"}]}'

    assert Avro(schema, registry="mock://slow").asks_registry()
    assert not Avro(schema).asks_registry()
    assert not Text().asks_registry()
