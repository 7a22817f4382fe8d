"""A descriptor that protoc made, printed and read again, is the same descriptor."""

from __future__ import annotations

from importlib import import_module

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from brookmere.registry.schemas.proto import parse_proto, print_proto

MODULES = (
    "any",
    "api",
    "compiler.plugin",
    "descriptor",
    "duration",
    "empty",
    "field_mask",
    "source_context",
    "struct",
    "timestamp",
    "type",
    "wrappers",
)


@pytest.mark.parametrize("module", MODULES)
def test_files_of_protobuf_itself_survive(module: str) -> None:
    descriptor = import_module(f"google.protobuf.{module}_pb2").DESCRIPTOR
    file = FileDescriptorProto.FromString(descriptor.serialized_pb)

    text = print_proto(file)
    again = parse_proto(text, name=file.name)

    assert again == file
    assert print_proto(again) == text
