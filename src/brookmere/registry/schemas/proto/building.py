"""Validates a file with Protobuf itself: name clashes, numbers out of range, and whatever else it refuses."""

from __future__ import annotations

from collections.abc import Mapping

from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool

from brookmere.registry.schemas.proto.known import well_known_file
from brookmere.registry.schemas.proto.tokens import ProtoTextError


def check_builds(file: FileDescriptorProto, imports: Mapping[str, FileDescriptorProto]) -> None:
    """Raise ProtoTextError if Protobuf cannot create messages from a file."""
    named = FileDescriptorProto()
    named.CopyFrom(file)
    named.name = "the schema"
    try:
        _add(DescriptorPool(), named, imports, set())
    except (TypeError, ValueError) as problem:
        raise ProtoTextError(str(problem)) from problem


def _add(
    pool: DescriptorPool,
    file: FileDescriptorProto,
    imports: Mapping[str, FileDescriptorProto],
    added: set[str],
) -> None:
    if file.name in added:
        return
    added.add(file.name)
    for name in file.dependency:
        needed = imports.get(name) or well_known_file(name)
        if needed is None:
            raise ProtoTextError(f"the imported file {name!r} is unknown: add it to the references")
        _add(pool, needed, imports, added)
    pool.Add(file)
