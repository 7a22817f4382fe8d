"""Protobuf in Python: schemas in all their forms, values that are written and read, what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

from brookmere.errors import TopologyError
from brookmere.registry import RegistryClient
from brookmere.registry.schemas.proto import parse_proto
from brookmere.serde import BadBytes
from brookmere.serde.protobuf.protobuf import Protobuf

PAIR = (
    'syntax = "proto3"; package n; message Pair { int32 a = 1; Other o = 2; } message Other { string s = 1; }'
)
COMMON = 'syntax = "proto3"; package c; message Money { int64 cents = 1; }'
ORDER = 'syntax = "proto3"; import "common.proto"; message Order { c.Money price = 1; }'


@dataclass
class Other:
    s: str


@dataclass
class Pair:
    a: int
    o: Other | None = None


def file_set() -> FileDescriptorSet:
    common = parse_proto(COMMON, name="common.proto")
    order = parse_proto(ORDER, name="order.proto", imports={"common.proto": common})
    return FileDescriptorSet(file=[common, order])


def test_a_schema_may_be_text_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "pair.proto"
    file.write_text(PAIR)

    assert Protobuf(PAIR) == Protobuf(file)
    assert hash(Protobuf(PAIR)) == hash(Protobuf(file))
    assert Protobuf(PAIR).record_name == "n.Pair"
    assert Protobuf(PAIR, message="Other").serialize({"s": "x"}) == b"\x0a\x01x"


def test_a_schema_may_be_a_generated_class() -> None:
    serde = Protobuf(Timestamp)

    assert serde.serialize({"seconds": 5}) == b"\x08\x05"
    assert serde.serialize(Timestamp(seconds=5)) == b"\x08\x05"
    assert serde.deserialize(b"\x08\x05") == {"seconds": 5, "nanos": 0}
    assert "message Timestamp" in (serde.text or "")


def test_a_schema_may_be_a_set_of_files() -> None:
    serde = Protobuf(file_set())

    assert serde.serialize({"price": {"cents": 7}}) == b"\x0a\x02\x08\x07"
    assert Protobuf(file_set(), message="c.Money").serialize({"cents": 7}) == b"\x08\x07"


def test_imported_files_are_registered_and_found_again() -> None:
    serde = Protobuf(file_set(), registry="mock://imports", subject="orders-value")

    data = serde.serialize({"price": {"cents": 7}})

    client = RegistryClient("mock://imports")
    assert client.subjects() == ["common.proto", "orders-value"]
    newest = Protobuf(registry="mock://imports", subject="orders-value")
    assert newest.deserialize(data) == {"price": {"cents": 7}}


def test_values_may_be_dataclasses() -> None:
    serde = Protobuf(PAIR)

    assert serde.serialize(Pair(1, Other("x"))) == serde.serialize({"a": 1, "o": {"s": "x"}})


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ("message X {", "line 1"),
        ('syntax = "proto3";', "it defines no message"),
        ('syntax = "proto3"; message N { N next = 1; }', "value.next is a N inside a N"),
        (Struct, "inside"),
        ('syntax = "proto2"; message G { optional group Old = 1 { optional int32 a = 1; } }', "is a group"),
        (ORDER, "common.proto"),
        (FileDescriptorSet(), "an empty set"),
        (FileDescriptorSet(file=[FileDescriptorProto(name="x.proto")]), "it defines no message"),
        (3, "found int"),
    ],
)
def test_what_is_no_schema_is_refused(schema: Any, words: str) -> None:
    with pytest.raises(TopologyError, match=words):
        Protobuf(schema)


def test_a_message_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(TopologyError, match="it has no message 'Par', but Pair, Other"):
        Protobuf(PAIR, message="Par")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"a": "x"}, r"value\.a does not fit"),
        ({"b": 1}, "the field 'b', which n.Pair does not have"),
        ({"o": {"s": 1}}, r"value\.o\.s does not fit"),
        ({"a": 2**40}, "range"),
        ([1], "expected a dict"),
    ],
)
def test_values_that_do_not_fit_are_not_written(value: Any, words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        Protobuf(PAIR).serialize(value)


def test_times_without_a_zone_are_utc() -> None:
    serde = Protobuf(
        'syntax = "proto3"; import "google/protobuf/timestamp.proto";'
        "message T { google.protobuf.Timestamp t = 1; }"
    )

    assert serde.serialize({"t": datetime(1970, 1, 1, 0, 0, 1)}) == b"\x0a\x02\x08\x01"


@pytest.mark.parametrize("data", [b"\x08", b"\x12\x05a"])
def test_wrong_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(BadBytes, match=r"the bytes are no n\.Pair"):
        Protobuf(PAIR).deserialize(data)
