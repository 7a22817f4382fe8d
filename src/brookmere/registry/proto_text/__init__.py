"""Turns the text of a .proto file into its descriptor, and a descriptor into text."""

from __future__ import annotations

from brookmere.registry.proto_text.known import file_from_bytes, well_known_file
from brookmere.registry.proto_text.names import ProtoFile
from brookmere.registry.proto_text.parse import parse_proto
from brookmere.registry.proto_text.show import print_proto
from brookmere.registry.proto_text.tokens import ProtoTextError

__all__ = ["ProtoFile", "ProtoTextError", "file_from_bytes", "parse_proto", "print_proto", "well_known_file"]
