""".proto files: parsed into descriptors, and descriptors written as text."""

from __future__ import annotations

from brookmere.registry.schemas.proto.known import file_from_bytes, well_known_file
from brookmere.registry.schemas.proto.names import ProtoFile
from brookmere.registry.schemas.proto.parse import parse_proto
from brookmere.registry.schemas.proto.show import print_proto
from brookmere.registry.schemas.proto.tokens import ProtoTextError

__all__ = ["ProtoFile", "ProtoTextError", "file_from_bytes", "parse_proto", "print_proto", "well_known_file"]
