"""The descriptors of the files that ship with Protobuf."""

from __future__ import annotations

from importlib import import_module

from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.message import DecodeError

from brookmere.registry.schemas.proto.tokens import ProtoTextError

_PREFIX = "google/protobuf/"


def well_known_file(name: str) -> FileDescriptorProto | None:
    """Return the descriptor of a file such as google/protobuf/timestamp.proto, or None."""
    if not name.startswith(_PREFIX) or not name.endswith(".proto"):
        return None
    module = name.removesuffix(".proto").replace("/", ".") + "_pb2"
    if not all(part.isidentifier() for part in module.split(".")):
        return None
    try:
        descriptor = import_module(module).DESCRIPTOR
    except ImportError:
        return None
    return file_from_bytes(descriptor.serialized_pb)


def file_from_bytes(data: bytes) -> FileDescriptorProto:
    """Read the descriptor of a file from its bytes."""
    try:
        return FileDescriptorProto.FromString(data)
    except DecodeError as problem:
        raise ProtoTextError(f"the bytes are not a descriptor of a .proto file: {problem}") from problem
