"""Avro in the kernel: the same bytes and values as a library of its own, evolution, wrong bytes."""

from __future__ import annotations

import io
import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import fastavro
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.testing import TopologyTestDriver
from tests.run.schemas.programs import failure, seen, sent, through

pytestmark = pytest.mark.usefixtures("spark")

EVERYTHING = {
    "type": "record",
    "name": "Everything",
    "namespace": "shop",
    "fields": [
        {"name": "b", "type": "boolean"},
        {"name": "i", "type": "int"},
        {"name": "l", "type": "long"},
        {"name": "f", "type": "float"},
        {"name": "d", "type": "double"},
        {"name": "s", "type": "string"},
        {"name": "raw", "type": "bytes"},
        {"name": "four", "type": {"type": "fixed", "name": "Four", "size": 4}},
        {"name": "color", "type": {"type": "enum", "name": "Color", "symbols": ["RED", "GREEN", "BLUE"]}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "millis", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "micros", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {
            "name": "sum",
            "type": {
                "type": "fixed",
                "name": "Sum",
                "size": 8,
                "logicalType": "decimal",
                "precision": 18,
                "scale": 3,
            },
        },
        {"name": "uuid", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "clock", "type": {"type": "int", "logicalType": "time-millis"}},
        {"name": "maybe", "type": ["null", "string"]},
        {"name": "swapped", "type": ["long", "null"]},
        {"name": "numbers", "type": {"type": "array", "items": ["null", "int"]}},
        {"name": "counts", "type": {"type": "map", "values": "long"}},
        {
            "name": "inner",
            "type": {"type": "record", "name": "Inner", "fields": [{"name": "x", "type": "double"}]},
        },
        {"name": "more", "type": {"type": "array", "items": "Inner"}},
        {"name": "any", "type": ["null", "string", "int", "Inner"]},
    ],
}
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
INTS, LONGS = st.integers(-(2**31), 2**31 - 1), st.integers(-(2**63), 2**63 - 1)
INNERS = st.fixed_dictionaries({"x": st.floats(allow_nan=False)})
MOMENTS = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))
VALUES = st.fixed_dictionaries(
    {
        "b": st.booleans(),
        "i": INTS,
        "l": LONGS,
        "f": st.floats(width=32, allow_nan=False),
        "d": st.floats(allow_nan=False),
        "s": TEXTS,
        "raw": st.binary(max_size=8),
        "four": st.binary(min_size=4, max_size=4),
        "color": st.sampled_from(["RED", "GREEN", "BLUE"]),
        "day": st.dates(),
        "millis": MOMENTS.map(lambda m: m.replace(microsecond=m.microsecond // 1000 * 1000)),
        "micros": MOMENTS,
        "price": st.decimals(-9999999, 9999999, places=2),
        "sum": st.decimals(-(10**14), 10**14, places=3),
        "uuid": TEXTS,
        "clock": INTS,
        "maybe": st.none() | TEXTS,
        "swapped": st.none() | LONGS,
        "numbers": st.lists(st.none() | INTS, max_size=4),
        "counts": st.dictionaries(TEXTS, LONGS, max_size=3),
        "inner": INNERS,
        "more": st.lists(INNERS, max_size=3),
        "any": st.none() | TEXTS | INTS | INNERS,
    }
)


def record(*fields: dict[str, Any] | str, name: str = "R", **more: Any) -> dict[str, Any]:
    members = [{"name": f, "type": "long"} if isinstance(f, str) else f for f in fields]
    return {"type": "record", "name": name, "fields": members, **more}


def avro(schema: Any, value: Any) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(json.dumps(schema))), value)
    return out.getvalue()


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(VALUES, min_size=20, max_size=40))
def test_values_go_through_the_kernel_byte_by_byte(values: list[dict[str, Any]]) -> None:
    serde = bm.Avro(EVERYTHING)
    datas = [serde.serialize(value) for value in values]

    assert through(serde, serde, datas) == datas
    assert [serde.deserialize(data) for data in datas] == values


def test_the_program_sees_sparks_types() -> None:
    value = {
        "b": True, "i": 1, "l": 2, "f": 0.5, "d": 0.25, "s": "é", "raw": b"\0", "four": b"abcd",
        "color": "BLUE",
        "day": date(2024, 2, 29), "millis": datetime(2024, 1, 1, tzinfo=UTC),
        "micros": datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), "price": Decimal("-1.50"),
        "sum": Decimal("0.001"), "uuid": "u", "clock": 5, "maybe": None, "swapped": 7, "numbers": [1, None],
        "counts": {"a": 1}, "inner": {"x": 1.0}, "more": [{"x": 2.0}], "any": 3,
    }  # fmt: skip

    (row,) = seen(bm.Avro(EVERYTHING), [bm.Avro(EVERYTHING).serialize(value)])

    assert row["any"] == {"member0": None, "member1": 3, "member2": None}
    assert (row["price"], row["sum"], row["day"]) == (Decimal("-1.50"), Decimal("0.001"), date(2024, 2, 29))
    assert (row["color"], row["maybe"], row["swapped"], row["numbers"]) == ("BLUE", None, 7, [1, None])
    assert (row["uuid"], row["clock"], row["counts"], row["more"]) == ("u", 5, {"a": 1}, [{"x": 2.0}])


@pytest.mark.parametrize(
    ("schema", "value"),
    [('"string"', "é"), ('"long"', -5), ('{"type":"array","items":"int"}', [1, 2]), ('["null","int"]', 3)],
)
def test_a_schema_need_not_be_a_record(schema: str, value: Any) -> None:
    data = bm.Avro(schema).serialize(value)

    assert through(bm.Avro(schema), bm.Avro(schema), [data, None]) == [data, None]


OLD = record("id", {"name": "count", "type": "int"}, {"name": "gone", "type": ["null", "string"]})
NEW = record(
    "id",
    {"name": "amount", "type": "double", "aliases": ["count"]},
    {"name": "note", "type": "string", "default": "none"},
    {"name": "tags", "type": {"type": "array", "items": "string"}, "default": ["a"]},
)


def written(registry: str, schema: Any, value: Any) -> bytes:
    """Return bytes as another client of the registry writes them."""
    id = bm.registry.RegistryClient(registry).register("s", json.dumps(schema))
    return b"\0" + id.to_bytes(4, "big") + avro(schema, value)


def test_a_new_reader_reads_what_an_old_writer_wrote() -> None:
    new = bm.Avro(NEW, registry="mock://forth", subject="s")
    data = written("mock://forth", OLD, {"id": 1, "count": 2, "gone": "x"})

    (row,) = seen(new, [data])

    assert row == {"id": 1, "amount": 2.0, "note": "none", "tags": ["a"]}
    assert new.deserialize(data) == row


def test_an_old_reader_reads_what_a_new_writer_wrote() -> None:
    later = record(
        "id",
        {"name": "more", "type": {"type": "map", "values": {"type": "array", "items": ["null", "R"]}}},
        {"name": "tail", "type": "float"},
    )
    old = bm.Avro(record("id"), registry="mock://back", subject="s")
    data = written(
        "mock://back", later, {"id": 4, "more": {"k": [None, {"id": 5, "more": {}, "tail": 0}]}, "tail": 1}
    )

    assert seen(old, [data]) == [{"id": 4}]


def test_members_of_unions_and_enums_are_resolved() -> None:
    colors = {"type": "enum", "name": "C", "symbols": ["RED", "PINK"]}
    old = record(
        {"name": "v", "type": "int"}, {"name": "c", "type": colors}, {"name": "t", "type": ["int", "null"]}
    )
    new = record(
        {"name": "v", "type": ["null", "string", "double"]},
        {"name": "c", "type": {"type": "enum", "name": "C", "symbols": ["BLUE", "RED"], "default": "BLUE"}},
        {"name": "t", "type": ["null", "long", "string"]},
    )
    reader = bm.Avro(new, registry="mock://unions", subject="s")
    client = bm.registry.RegistryClient("mock://unions")
    client.set_compatibility("NONE")

    rows = seen(
        reader,
        [
            written("mock://unions", old, {"v": 3, "c": "RED", "t": 1}),
            written("mock://unions", old, {"v": 4, "c": "PINK", "t": None}),
        ],
    )

    assert rows == [
        {"v": {"member0": None, "member1": 3.0}, "c": "RED", "t": {"member0": 1, "member1": None}},
        {"v": {"member0": None, "member1": 4.0}, "c": "BLUE", "t": None},
    ]


def test_what_cannot_be_resolved_is_a_bad_record() -> None:
    reader = bm.Avro(record("id", "must"), registry="mock://unfit", subject="s")
    data = written("mock://unfit", record("id"), {"id": 1})

    assert "missing required field must" in failure(reader, data)


FRAME = bytes([0, 0, 0, 0])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "expected the magic byte 0 and the id of a schema in front of the value, found 0 bytes"),
        (b"\1\0\0\0\1\2", "found 0x01; the value may have been written without a registry"),
        (FRAME + b"\x63\2", "the registry mock://bad has no schema with the id 99"),
        (FRAME + b"\1", "expected 1 more byte at byte 5, found 0"),
        (FRAME + b"\1\2\4a", "expected 2 more bytes at byte 7, found 1"),
        (FRAME + b"\1\2\2\xff\0", "found text that is not UTF-8 at byte 7"),
        (FRAME + b"\1\2\2a\6", "found the member number 3 of a union of 2"),
        (FRAME + b"\1\2\2a\0\0", "found 1 byte after the value, which ends at byte 9"),
        (FRAME + b"\1\2\xfe\xff\xff\xff\x0f", "expected 2147483647 more bytes at byte 11, found 0"),
        (FRAME + b"\1\2\xff\xff\xff\xff\x0f", "found the length -2147483648 at byte 11"),
        (FRAME + b"\1" + b"\xff" * 11, "found a number of more than ten bytes at byte 5"),
        (FRAME + b"\2\2", "the schema 2 is of the kind JSON, expected AVRO"),
    ],
)
def test_wrong_bytes_are_a_bad_record_with_its_reason(data: bytes, words: str) -> None:
    schema = record("id", {"name": "s", "type": "string"}, {"name": "n", "type": ["null", "int"]})
    client = bm.registry.RegistryClient("mock://bad")
    client.register("s", json.dumps(schema))
    client.register("j", '{"type": "object"}', "JSON")
    serde = bm.Avro(schema, registry="mock://bad", subject="s")

    assert words in failure(serde, data)
    with pytest.raises(ValueError, match=r"the|found"):
        serde.deserialize(data)


@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.binary(max_size=60), min_size=60, max_size=60))
def test_any_bytes_are_a_value_or_a_bad_record(datas: list[bytes]) -> None:
    assert len(seen(bm.Avro(EVERYTHING), datas)) == len(datas)


def test_fields_that_a_value_lacks_get_their_defaults() -> None:
    schema = record(
        "id",
        {"name": "note", "type": "string", "default": "none"},
        {"name": "maybe", "type": ["null", "long"]},
        {"name": "any", "type": ["null", "string", "long"]},
        {"name": "tags", "type": {"type": "array", "items": "string"}, "default": []},
    )

    value = sent(bm.Avro(schema), lambda v: F.struct(F.lit(1).alias("id"), F.lit("t").alias("any")))

    assert value == [{"id": 1, "note": "none", "maybe": None, "any": "t", "tags": []}]


def test_a_null_that_the_schema_does_not_allow_is_not_written() -> None:
    found = sent(bm.Avro(record("x")), lambda v: F.struct(F.when(v == "y", 1).alias("x")))

    assert found == ["value.x is null, which the schema does not allow"]


def test_a_text_that_is_no_symbol_of_the_enum_is_not_written() -> None:
    schema = record({"name": "x", "type": {"type": "enum", "name": "E", "symbols": ["A", "B"]}})

    assert sent(bm.Avro(schema), lambda v: F.struct(v.alias("x"))) == [
        "value.x is 'x', where the enum E has A, B"
    ]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (
            lambda v: F.struct(F.lit(1).alias("idd")),
            "has the field 'idd', which the schema of Avro does not name",
        ),
        (
            lambda v: F.struct(F.lit("1").alias("id")),
            "has the type string in id, where the schema of Avro says bigint",
        ),
        (
            lambda v: F.struct(F.lit("x").alias("s")),
            "lacks the field 'id', which the schema of Avro requires",
        ),
        (lambda v: v, "has the type string, where the schema of Avro says struct"),
    ],
)
def test_values_that_do_not_fit_are_refused_at_the_start(value: Any, words: str) -> None:
    schema = record("id", {"name": "s", "type": ["null", "string"]})

    with pytest.raises(bm.errors.ExpressionError, match=words):
        sent(bm.Avro(schema), value)


def test_keys_with_windows_and_avro_keys_go_together() -> None:
    app = bm.StreamsBuilder("windows", key=bm.Avro(record("id"), registry="mock://keys"), value=bm.Text())
    windows = bm.TimeWindows(timedelta(seconds=1))
    app.stream("in").group_by_key().windowed_by(windows).count().to_stream().to("out")

    with TopologyTestDriver(app, partitions=2) as driver:
        driver.input_topic("in").pipe_input({"id": 1}, "a")
        (record_out,) = driver.output_topic("out", key=bm.Bytes()).read_records_to_list()

    assert record_out.value == 1


def test_a_key_of_a_repartition_is_registered_for_it() -> None:
    app = bm.StreamsBuilder("again", key=bm.Text(), value=bm.Text())
    key = bm.Avro(record("n"), registry="mock://again")
    rekeyed = app.stream("in").select_key(lambda _, value: F.struct(F.length(value).cast("long").alias("n")))
    rekeyed.group_by_key(key=key).count().to_stream().to("out", key=key)

    with TopologyTestDriver(app, partitions=3) as driver:
        driver.input_topic("in").pipe_values(["a", "bb", "c"])
        found = driver.output_topic("out").read_key_values_to_list()

    assert found == [({"n": 1}, 1), ({"n": 2}, 1), ({"n": 1}, 2)]
    subjects = bm.registry.RegistryClient("mock://again").subjects()
    assert "out-key" in subjects
    assert [name for name in subjects if name.startswith("again-") and name.endswith("-repartition-key")]
