"""JSON by a JSON Schema in the kernel: which fields there are, which may be absent, and what is refused."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest
from pyspark.sql import functions as F

import brookmere as bm
from tests.run.schemas.programs import failure, seen, sent, through

pytestmark = pytest.mark.usefixtures("spark")

ORDER = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "title": "Order",
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "price": {"type": "number"},
        "item": {"type": ["string", "null"]},
        "note": {"oneOf": [{"type": "null"}, {"type": "string"}]},
        "paid": {"type": "boolean"},
        "day": {"type": "string", "format": "date"},
        "at": {"type": "string", "format": "date-time"},
        "raw": {"type": "string", "contentEncoding": "base64"},
        "color": {"enum": ["red", "blue"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
        "address": {"$ref": "#/definitions/address"},
    },
    "required": ["id"],
    "definitions": {
        "address": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    },
}
SERDE = bm.JsonSchema(ORDER)
FULL = (
    b'{"id":1,"price":2.5,"item":"tea","note":"n","paid":true,"day":"2024-02-29","at":"2024-01-01T00:00:00.000Z",'
    b'"raw":"AAE=","color":"red","tags":["a"],"counts":{"x":1},"address":{"city":"Ulm"}}'
)


def test_values_go_through_the_kernel() -> None:
    assert through(SERDE, SERDE, [FULL, b'{"id":2}', None]) == [FULL, b'{"id":2}', None]


def test_the_program_sees_sparks_types() -> None:
    (row,) = seen(SERDE, [FULL])

    assert (row["id"], row["price"], row["paid"], row["color"], row["tags"]) == (1, 2.5, True, "red", ["a"])
    assert (row["day"], row["raw"], row["counts"]) == (date(2024, 2, 29), b"\0\1", {"x": 1})
    assert row["at"].replace(tzinfo=row["at"].tzinfo or UTC) == datetime(2024, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"{}", "value.id is null or absent"),
        (b'{"id":1,"address":{}}', "value.address.city is null or absent"),
        (b'{"id":"x"}', ""),
        (b"{", ""),
    ],
)
def test_what_the_schema_does_not_allow_is_a_bad_record(data: bytes, words: str) -> None:
    assert words in failure(SERDE, data)


def test_with_a_registry_the_json_stands_behind_the_id() -> None:
    serde = bm.JsonSchema(ORDER, registry="mock://json-schema", subject="record")
    data = b"\0\0\0\0\1" + FULL

    assert through(serde, serde, [data]) == [data]
    assert bm.registry.RegistryClient("mock://json-schema").subjects() == ["Order"]
    newest = bm.JsonSchema(registry="mock://json-schema", subject="Order")
    assert seen(newest, [data])[0]["item"] == "tea"
    assert "magic byte" in failure(newest, FULL)


def test_a_null_is_written_only_where_a_field_must_be_there() -> None:
    value = {"id": F.lit(1), "item": F.lit(None).cast("string")}
    must = bm.JsonSchema({**ORDER, "required": ["id", "item"]})

    assert sent(SERDE, lambda v: value) == [{"id": 1}]
    assert sent(must, lambda v: value) == [{"id": 1, "item": None}]
    nothing = sent(SERDE, lambda v: F.struct(F.when(v == "y", 1).alias("id")))
    assert nothing == ["value.id is null or absent"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (
            lambda v: {"id": F.lit(1.5)},
            "has the type double in id, where the schema of JsonSchema says bigint",
        ),
        (lambda v: {"id": 1, "notes": v}, "Did you mean 'note'"),
        (lambda v: {"item": v}, "lacks the field 'id', which the schema of JsonSchema requires"),
        (lambda v: {"id": 1, "address": {"town": v}}, "has the field 'address.town'"),
    ],
)
def test_values_that_do_not_fit_are_refused_at_the_start(value: Any, words: str) -> None:
    with pytest.raises(bm.errors.ExpressionError, match=words):
        sent(SERDE, value)
