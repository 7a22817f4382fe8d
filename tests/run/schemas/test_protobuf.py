"""Protobuf in the kernel: the same bytes and values as Google's library, presence, evolution, wrong bytes."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from google.protobuf.message_factory import GetMessageClass
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.serde.protobuf.messages import fill, shown
from tests.run.schemas.programs import failure, seen, sent, through

pytestmark = pytest.mark.usefixtures("spark")

EVERYTHING = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
message Everything {
  double d = 1;
  float f = 2;
  int32 i = 3;
  int64 l = 4;
  uint32 u = 5;
  uint64 ul = 6;
  sint32 si = 7;
  sint64 sl = 8;
  fixed32 fi = 9;
  fixed64 fl = 10;
  sfixed32 sfi = 11;
  sfixed64 sfl = 12;
  bool b = 13;
  string s = 14;
  bytes raw = 15;
  Color color = 16;
  optional int32 maybe = 17;
  Inner inner = 18;
  repeated int32 packed = 19;
  repeated int64 loose = 20 [packed = false];
  repeated string texts = 21;
  repeated Inner inners = 22;
  repeated Color colors = 23;
  map<string, int64> counts = 24;
  map<int32, Inner> by_number = 25;
  oneof choice { string left = 26; Inner right = 27; int32 number = 28; }
  google.protobuf.Timestamp at = 29;
  google.protobuf.Int64Value wrapped = 30;
  google.protobuf.StringValue text = 31;
  repeated google.protobuf.Timestamp moments = 400;
  repeated double doubles = 401;
}
message Inner { int32 x = 1; optional string y = 2; repeated bool flags = 3; }
enum Color { NONE = 0; RED = 1; BLUE = -5; }
"""
SERDE = bm.Protobuf(EVERYTHING)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
INTS, LONGS = st.integers(-(2**31), 2**31 - 1), st.integers(-(2**63), 2**63 - 1)
WHOLE = st.integers(0, 2**64 - 1).map(Decimal)
DOUBLES = st.floats(allow_nan=False)
COLORS = st.sampled_from(["NONE", "RED", "BLUE", "17"])
MOMENTS = st.datetimes(datetime(1, 1, 1), datetime(9999, 1, 1), timezones=st.just(UTC))
INNERS = st.fixed_dictionaries(
    {"x": INTS, "y": st.none() | TEXTS, "flags": st.lists(st.booleans(), max_size=3)}
)
CHOICES = st.tuples(st.sampled_from(["left", "right", "number", None]), TEXTS, INNERS, INTS).map(
    lambda t: {
        name: value if name == t[0] else None
        for name, value in zip(("left", "right", "number"), t[1:], strict=True)
    }
)
VALUES = st.tuples(
    st.fixed_dictionaries(
        {
            "d": DOUBLES, "f": st.floats(width=32, allow_nan=False), "i": INTS, "l": LONGS,
            "u": st.integers(0, 2**32 - 1), "ul": WHOLE, "si": INTS, "sl": LONGS,
            "fi": st.integers(0, 2**32 - 1),
            "fl": WHOLE, "sfi": INTS, "sfl": LONGS, "b": st.booleans(), "s": TEXTS,
            "raw": st.binary(max_size=200),
            "color": COLORS, "maybe": st.none() | INTS, "inner": st.none() | INNERS,
            "packed": st.lists(INTS, max_size=40), "loose": st.lists(LONGS, max_size=3),
            "texts": st.lists(TEXTS, max_size=3), "inners": st.lists(INNERS, max_size=3),
            "colors": st.lists(COLORS, max_size=3), "counts": st.dictionaries(TEXTS, LONGS, max_size=1),
            "by_number": st.dictionaries(INTS, INNERS, max_size=1), "at": st.none() | MOMENTS,
            "wrapped": st.none() | LONGS, "text": st.none() | TEXTS, "moments": st.lists(MOMENTS, max_size=2),
            "doubles": st.lists(DOUBLES, max_size=3),
        }
    ),
    CHOICES,
).map(lambda parts: {**parts[0], **parts[1]})  # fmt: skip


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(VALUES, min_size=20, max_size=40))
def test_values_go_through_the_kernel_byte_by_byte(values: list[dict[str, Any]]) -> None:
    datas = [SERDE.serialize(value) for value in values]

    assert through(SERDE, SERDE, datas) == datas
    assert [SERDE.deserialize(data) for data in datas] == values


@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(VALUES, min_size=10, max_size=20))
def test_the_program_sees_what_googles_library_shows(values: list[dict[str, Any]]) -> None:
    message = GetMessageClass(SERDE.expected_message())
    datas, shows = [], []
    for value in values:
        # Python's collected times have no zone and no years beyond 9999.
        one = message()
        fill(one, {**value, "at": None, "moments": []})
        datas.append(one.SerializeToString())
        shows.append(shown(one))

    rows = seen(SERDE, datas)

    for row, expected in zip(rows, shows, strict=True):
        assert row == expected


def test_an_absent_field_is_its_default_or_null_by_its_presence() -> None:
    (row,) = seen(SERDE, [b""])

    assert (row["i"], row["ul"], row["s"], row["raw"], row["b"], row["color"]) == (
        0,
        0,
        "",
        b"",
        False,
        "NONE",
    )
    assert (row["maybe"], row["inner"], row["left"], row["at"], row["wrapped"]) == (None,) * 5
    assert (row["packed"], row["counts"]) == ([], {})


PROTO2 = """
syntax = "proto2";
message Old {
  required int32 id = 1;
  optional string name = 2 [default = "x"];
  repeated int32 numbers = 3;
  optional Kind kind = 4;
  enum Kind { A = 1; B = 2; }
}
"""


def test_proto2_has_required_fields_and_closed_enums() -> None:
    old = bm.Protobuf(PROTO2)
    data = old.serialize({"id": 0, "numbers": [1, 2], "kind": "B"})

    assert data == b"\x08\x00\x18\x01\x18\x02\x20\x02"
    assert through(old, old, [data]) == [data]
    assert seen(old, [b"\x08\x05\x20\x09"]) == [{"id": 5, "name": None, "numbers": [], "kind": None}]
    assert failure(old, b"\x12\x01a") == "the field id of Old is required, and absent"
    assert "required" in sent(old, lambda v: F.struct(F.when(v == "y", 1).alias("id")))[0]


def test_unknown_fields_are_passed_over_and_the_last_value_counts() -> None:
    pair = bm.Protobuf(
        'syntax = "proto3"; message P { int32 a = 1; I i = 2; oneof o { int32 x = 3; int32 y = 4; } }'
        "message I { int32 b = 1; int32 c = 2; }"
    )
    unknown = b"\x2a\x01z\x31" + bytes(8) + b"\x3d" + bytes(4) + b"\x43\x0a\x00\x48\x01\x44\x50\x01"
    twice = b"\x08\x01\x08\x02" + b"\x12\x02\x08\x07" + b"\x12\x02\x10\x08" + b"\x18\x01\x20\x02"

    assert seen(pair, [unknown + twice]) == [{"a": 2, "i": {"b": 7, "c": 8}, "x": None, "y": 2}]
    assert pair.deserialize(unknown + twice) == {"a": 2, "i": {"b": 7, "c": 8}, "x": None, "y": 2}


def test_numbers_may_be_packed_or_not() -> None:
    (row,) = seen(SERDE, [b"\x98\x01\x05\x9a\x01\x02\x06\x07\xa2\x01\x01\x09"])

    assert (row["packed"], row["loose"]) == ([5, 6, 7], [9])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x18", "expected 1 more byte at byte 1, found 0"),
        (b"\x72\x05ab", "expected 5 more bytes at byte 2, found 2"),
        (b"\x72\x01\xff", "found text that is not UTF-8 at byte 2"),
        (b"\x00\x01", "found the field number 0 before byte 1"),
        (b"\x1f", "found the unknown wire type 7 of the field 3 before byte 1"),
        (b"\x92\x01\x02\x08", "expected 2 more bytes at byte 3, found 1"),
        (b"\xf2\x03" + b"\xff" * 10 + b"\x01", "found a number of more than ten bytes"),
    ],
)
def test_wrong_bytes_are_a_bad_record_with_its_reason(data: bytes, words: str) -> None:
    assert words in failure(SERDE, data)
    with pytest.raises(ValueError, match=r"the bytes are no shop\.Everything"):
        SERDE.deserialize(data)


def refused_by_google(data: bytes) -> str:
    try:
        SERDE.deserialize(data)
    except ValueError as error:
        return str(error)
    return ""


@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.binary(max_size=60), min_size=60, max_size=60))
def test_any_bytes_are_a_value_or_a_bad_record_as_for_googles_library(datas: list[bytes]) -> None:
    for data, found in zip(datas, seen(SERDE, datas), strict=True):
        refusal = refused_by_google(data)
        # Spark has times that Python's datetime has not.
        if "no datetime" not in refusal:
            assert isinstance(found, str) is bool(refusal), (data, found, refusal)


def test_with_a_registry_a_message_says_where_it_stands_in_its_file() -> None:
    file = (
        'syntax = "proto3"; message A { int32 a = 1; message C { int32 c = 1; } } message B { int32 b = 1; }'
    )
    serdes = [
        bm.Protobuf(file, message=name, registry="mock://proto", subject="s") for name in ("A", "B", "A.C")
    ]

    datas = [serde.serialize({name: 7}) for serde, name in zip(serdes, "abc", strict=True)]

    assert datas == [
        b"\0\0\0\0\1\0\x08\x07",
        b"\0\0\0\0\1\2\2\x08\x07",
        b"\0\0\0\0\1\4\0\0\x08\x07",
    ]
    for serde, data in zip(serdes, datas, strict=True):
        assert through(serde, serde, [data]) == [data]
    newest = bm.Protobuf(registry="mock://proto", subject="s", message="B")
    assert seen(newest, [datas[1]]) == [{"b": 7}]
    assert "magic byte" in failure(newest, b"\x08\x07")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (
            lambda v: F.struct(F.lit(2**40).alias("i")),
            "has the type bigint in i, where the schema of Protobuf says int",
        ),
        (lambda v: F.struct(v.alias("colour")), "Did you mean 'color'"),
        (lambda v: v, "has the type string, where the schema of Protobuf says struct"),
    ],
)
def test_values_that_do_not_fit_are_refused_at_the_start(value: Any, words: str) -> None:
    with pytest.raises(bm.errors.ExpressionError, match=words):
        sent(SERDE, value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (lambda v: F.struct(v.alias("color")), "value.color is 'x', where the enum Color has"),
        (
            lambda v: F.struct(F.lit(-1).cast("long").alias("u")),
            "value.u is -1, which is not an unsigned number of 4 bytes",
        ),
        (
            lambda v: F.struct(F.lit(-1).cast("decimal(20,0)").alias("ul")),
            "value.ul is -1, which is not an unsigned number",
        ),
        (lambda v: F.struct(v.alias("left"), F.lit(1).alias("number")), "of which only one may be set"),
        (
            lambda v: F.struct(F.array(F.lit(None).cast("string")).alias("texts")),
            "value.texts has a null among its elements",
        ),
    ],
)
def test_a_value_that_the_message_has_no_place_for_is_not_written(value: Any, words: str) -> None:
    (found,) = sent(SERDE, value)

    assert words in found
