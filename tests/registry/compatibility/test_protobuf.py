"""What may follow what in .proto files, by the rules of Confluent's registry."""

from __future__ import annotations

import pytest

from brookmere.registry.compatibility.protobuf import protobuf_differences
from brookmere.registry.schemas.proto import ProtoFile, parse_proto


def file(text: str, **imports: str) -> ProtoFile:
    parsed = {
        f"{name}.proto": parse_proto(content, name=f"{name}.proto") for name, content in imports.items()
    }
    return ProtoFile(parse_proto(text, imports=parsed), parsed)


def proto3(body: str) -> ProtoFile:
    return file(f'syntax = "proto3"; {body}')


def proto2(body: str) -> ProtoFile:
    return file(f'syntax = "proto2"; {body}')


def message(*fields: str) -> ProtoFile:
    return proto3(f"message M {{ {' '.join(fields)} }} message N {{ int32 x = 1; }} enum E {{ A = 0; }}")


@pytest.mark.parametrize(
    ("reader", "writer"),
    [
        ("int32 a = 1;", "int64 a = 1;"),
        ("bool a = 1;", "uint32 a = 1;"),
        ("sint32 a = 1;", "sint64 a = 1;"),
        ("fixed32 a = 1;", "sfixed32 a = 1;"),
        ("fixed64 a = 1;", "sfixed64 a = 1;"),
        ("string a = 1;", "bytes a = 1;"),
        ("E a = 1;", "int32 a = 1;"),
        ("uint64 a = 1;", "E a = 1;"),
        ("int32 b = 1;", "int32 a = 1;"),
        ("", "int32 a = 1;"),
        ("int32 a = 1;", ""),
        ("optional int32 a = 1;", "int32 a = 1;"),
        ("repeated string a = 1;", "string a = 1;"),
        ("map<string, int64> a = 1;", "map<string, int32> a = 1;"),
        ("N a = 1;", "N a = 1;"),
        ("repeated M a = 1;", "repeated M a = 1;"),
        ("oneof o { int32 a = 1; }", "int32 a = 1;"),
        ("oneof o { int32 a = 1; int32 b = 2; }", "oneof o { int32 a = 1; }"),
        ("oneof p { int32 a = 1; }", "oneof o { int32 a = 1; }"),
        ("oneof o { int32 a = 1; string new = 2; }", "int32 a = 1;"),
    ],
)
def test_it_can_be_read(reader: str, writer: str) -> None:
    assert protobuf_differences(message(reader), message(writer)) == []


@pytest.mark.parametrize(
    ("reader", "writer", "reason"),
    [
        ("string a = 1;", "int32 a = 1;", "M: field 1 (a) is int32 in the data and cannot be read as string"),
        ("sint32 a = 1;", "int32 a = 1;", "M: field 1 (a) is int32 in the data and cannot be read as sint32"),
        ("double a = 1;", "float a = 1;", "M: field 1 (a) is float in the data and cannot be read as double"),
        ("bool a = 1;", "E a = 1;", "M: field 1 (a) is enum in the data and cannot be read as bool"),
        ("N a = 1;", "int32 a = 1;", "M: field 1 (a) is int32 in the data and cannot be read as message N"),
        ("N a = 1;", "M a = 1;", "M: field 1 (a) is message M in the data and cannot be read as message N"),
        (
            "map<string, N> a = 1;",
            "repeated N a = 1;",
            "M: field 1 (a) is message N in the data and cannot be read as map",
        ),
        ("repeated int32 a = 1;", "int32 a = 1;", "M: field 1 (a) was changed between one value and many"),
        ("N a = 1;", "repeated N a = 1;", "M: field 1 (a) was changed between one value and many"),
        (
            "map<string, string> a = 1;",
            "map<string, int32> a = 1;",
            "M: field 1 (a): field 2 (value) is int32 in the data and cannot be read as string",
        ),
        (
            "oneof o { int32 a = 1; int32 b = 2; }",
            "int32 a = 1; int32 b = 2;",
            "M: fields 1, 2 were moved into the oneof o",
        ),
        (
            "oneof o { int32 a = 1; int32 b = 2; }",
            "oneof o { int32 a = 1; } int32 b = 2;",
            "M: fields 2 were moved into the oneof o",
        ),
        (
            "oneof o { int32 a = 1; }",
            "oneof o { int32 a = 1; int32 b = 2; }",
            "M: field 2 was removed from the oneof o",
        ),
        (
            "oneof o { int32 a = 1; } int32 b = 2;",
            "oneof o { int32 a = 1; int32 b = 2; }",
            "M: field 2 was moved out of the oneof o",
        ),
    ],
)
def test_it_cannot_be_read_and_the_reason_names_the_field(reader: str, writer: str, reason: str) -> None:
    assert protobuf_differences(message(reader), message(writer)) == [reason]


def test_messages_may_be_added_and_not_removed() -> None:
    one, two = proto3("message A {}"), proto3("message A {} message B {}")

    assert protobuf_differences(two, one) == []
    assert protobuf_differences(one, two) == ["message B is missing"]


def test_nested_messages_are_compared() -> None:
    one = proto3("message A { message B { int32 x = 1; } B b = 1; }")
    two = proto3("message A { message B { string x = 1; } B b = 1; }")
    none = proto3("message A { }")

    assert protobuf_differences(two, one) == [
        "A.B: field 1 (x) is int32 in the data and cannot be read as string"
    ]
    assert protobuf_differences(none, one) == ["message A.B is missing"]


def test_the_package_and_enums_may_change() -> None:
    one = proto3("package a; message A { A self = 1; E e = 2; } enum E { X = 0; Y = 1; }")
    two = proto3("package b; message A { A self = 1; E e = 2; } enum E { Z = 0; }")

    assert protobuf_differences(two, one) == []


def test_required_fields_stay() -> None:
    required = proto2("message A { required int32 a = 1; }")
    optional = proto2("message A { optional int32 a = 1; }")
    none = proto2("message A { }")

    assert protobuf_differences(optional, required) == []
    assert protobuf_differences(required, optional) == [
        "A: field 1 (a) is now required and may be missing in the data"
    ]
    assert protobuf_differences(required, none) == ["A: field 1 (a) is required and not in the data"]
    assert protobuf_differences(none, required) == ["A: field 1 (a) is required and was removed"]


def test_imported_messages_are_compared() -> None:
    text = 'syntax = "proto3"; import "base.proto"; message A { base.M m = 1; }'
    base = 'syntax = "proto3"; package base; message M { int32 x = 1; }'
    other = base.replace("int32", "string")

    assert protobuf_differences(file(text, base=base), file(text, base=base)) == []
    assert protobuf_differences(file(text, base=other), file(text, base=base)) == [
        "base.M: field 1 (x) is int32 in the data and cannot be read as string"
    ]


def test_types_of_protobuf_itself_are_the_same_everywhere() -> None:
    text = (
        'syntax = "proto3"; import "google/protobuf/timestamp.proto"; '
        "message A { google.protobuf.Timestamp at = 1; }"
    )

    assert protobuf_differences(file(text), file(text)) == []
