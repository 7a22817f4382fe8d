"""Texts of .proto files become the descriptors that protoc would make of them."""

from __future__ import annotations

from textwrap import dedent

import pytest
from google.protobuf import descriptor_pool, message_factory, timestamp_pb2
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto

from brookmere.registry.schemas.proto import ProtoTextError, parse_proto, print_proto

ORDER = dedent(
    """
    // An order of the shop.
    syntax = "proto3";
    package shop.v1;
    import "google/protobuf/timestamp.proto";
    option java_package = "com.example" ".shop";

    message Order {
      reserved 9, 20 to 29, 1000 to max;
      reserved "gone";
      string id = 1;
      optional int32 count = 2 [deprecated = true, json_name = "howMany"];
      repeated Line lines = 3;
      map<string, Line> by_code = 4;
      oneof payment { Card card = 5; string voucher = 6; }
      google.protobuf.Timestamp at = 7; /* when */
      .shop.v1.Order.State state = 0x8;
      message Line { string article = 1; double price = 2; }
      enum State { option allow_alias = true; NEW = 0; OPEN = 0; DONE = -1; }
    };
    message Card { bytes number = 1; }
    service Shop { rpc Buy (Order) returns (stream Card); }
    """
)


def test_all_parts_of_a_message_are_understood() -> None:
    file = parse_proto(ORDER, name="order.proto")

    order = file.message_type[0]
    assert file.package == "shop.v1"
    assert file.options.java_package == "com.example.shop"
    assert [field.name for field in order.field] == [
        "id", "count", "lines", "by_code", "card", "voucher", "at", "state",
    ]  # fmt: skip
    assert order.field[1].proto3_optional
    assert order.field[1].json_name == "howMany"
    assert order.field[2].type_name == ".shop.v1.Order.Line"
    assert order.field[3].type_name == ".shop.v1.Order.ByCodeEntry"
    assert order.field[6].type_name == ".google.protobuf.Timestamp"
    assert order.field[7].type == FieldDescriptorProto.TYPE_ENUM
    assert [one.name for one in order.oneof_decl] == ["payment", "_count"]
    assert [(part.start, part.end) for part in order.reserved_range] == [(9, 10), (20, 30), (1000, 2**29)]
    assert [value.number for value in order.enum_type[0].value] == [0, 0, -1]


def test_messages_of_a_parsed_file_can_be_written_and_read() -> None:
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(timestamp_pb2.DESCRIPTOR.serialized_pb)
    pool.Add(parse_proto(ORDER, name="order.proto"))
    order_class = message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.v1.Order"))

    order = order_class(id="a", count=2, voucher="gift")
    order.by_code["x"].price = 1.5
    order.at.seconds = 7

    assert order_class.FromString(order.SerializeToString()) == order


def test_printing_and_reading_changes_nothing() -> None:
    file = parse_proto(ORDER)

    assert parse_proto(print_proto(file)) == file


def test_proto2_has_labels_defaults_groups_and_extensions() -> None:
    text = dedent(
        r"""
        message Old {
          required string name = 1 [default = "a\"b\n\303\244"];
          optional bytes raw = 2 [default = "\001\xff"];
          optional float rate = 3 [default = 1.50];
          optional double far = 4 [default = -inf];
          optional Kind kind = 5 [default = B];
          repeated int32 numbers = 6 [packed = true];
          optional group Part = 7 { optional int32 size = 1; }
          extensions 100 to 199;
          enum Kind { A = 0; B = 5; }
        }
        extend Old { optional string nick = 100; }
        """
    )

    file = parse_proto(text)

    old = file.message_type[0]
    assert [field.default_value for field in old.field] == [
        'a"b\nä', "\\001\\377", "1.5", "-inf", "B", "", "",
    ]  # fmt: skip
    assert old.field[6].type == FieldDescriptorProto.TYPE_GROUP
    assert file.extension[0].extendee == ".Old"
    assert parse_proto(print_proto(file)) == file


def test_types_are_looked_up_from_the_inside_out() -> None:
    text = 'syntax = "proto3"; package a.b; message M { M x = 1; b.N y = 2; message M {} } message N {}'

    fields = parse_proto(text).message_type[0].field

    assert [field.type_name for field in fields] == [".a.b.M.M", ".a.b.N"]


def test_options_of_extensions_are_kept_as_they_are_written() -> None:
    text = (
        'syntax = "proto3"; option (team).name = "x"; '
        "message M { int32 a = 1 [(rule) = { gt: 0 }, (low) = -3, (word) = YES]; }"
    )

    file = parse_proto(text)

    assert parse_proto(print_proto(file)) == file
    assert "(rule) = { gt: 0 }, (low) = -3, (word) = YES" in print_proto(file)


def test_imports_are_taken_from_the_given_files() -> None:
    base = parse_proto(
        'syntax = "proto3"; package base; message Money { int64 cents = 1; }', name="base.proto"
    )
    middle = FileDescriptorProto(name="middle.proto", dependency=["base.proto"], public_dependency=[0])
    text = 'syntax = "proto3"; import "middle.proto"; message Bill { base.Money total = 1; }'

    file = parse_proto(text, imports={"base.proto": base, "middle.proto": middle})

    assert file.message_type[0].field[0].type_name == ".base.Money"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('syntax = "proto3";\nmessage A { string b = 1 }', "line 2, column 26: expected ';', found '}'"),
        ('syntax = "proto3"; message A { B b = 1; }', "the type 'B', used by A, is not defined"),
        ('syntax = "proto3"; import "x.proto";', "the imported file 'x.proto' is unknown"),
        ('syntax = "proto3"; message A { int32 a = 1; int32 b = 1; }', "A: the field number 1 is used twice"),
        ('syntax = "proto3"; message A { int32 a = 1; int32 a = 2; }', "A: the field name 'a' is used twice"),
        ('syntax = "proto3"; message A { reserved 1; int32 a = 1; }', "reserved number 1"),
        ('syntax = "proto3"; message A { required int32 a = 1; }', "which proto3 does not have"),
        ("message A { int32 a = 1; }", "optional, required or repeated"),
        ('syntax = "proto3"; enum E { A = 1; }', "must be 0 in proto3"),
        ('syntax = "proto3"; message A { map<double, int32> a = 1; }', "as the key of a map"),
        ('syntax = "proto3"; message A { int32 a = 0; }', "a field number from 1 to"),
        ('syntax = "proto3"; message A { int32 a = 1 [nosuch = 1]; }', "there is no option 'nosuch'"),
        ('syntax = "proto4";', "proto2 or proto3"),
        ("message A {} message A {}", "'A' is defined twice"),
        ('{"type": "string"}', "extend or service, found '{'"),
        ("message A { # }", "is not allowed in a .proto file"),
        ("message A {", "found the end of the text"),
    ],
)
def test_an_invalid_proto_file_is_refused_with_the_position(text: str, reason: str) -> None:
    with pytest.raises(ProtoTextError) as refusal:
        parse_proto(text)

    assert reason in str(refusal.value)
