"""Parses the services of a .proto file."""

from __future__ import annotations

from google.protobuf.descriptor_pb2 import ServiceDescriptorProto

from brookmere.registry.schemas.proto.options import option_statement
from brookmere.registry.schemas.proto.tokens import Tokens


def read_service(tokens: Tokens, service: ServiceDescriptorProto) -> None:
    """Read a service, after the keyword."""
    service.name = tokens.word()
    tokens.expect("{")
    while not tokens.accept("}"):
        if tokens.accept("option"):
            option_statement(tokens, service.options)
        elif not tokens.accept(";"):
            _method(tokens, service)


def _method(tokens: Tokens, service: ServiceDescriptorProto) -> None:
    tokens.expect("rpc")
    method = service.method.add(name=tokens.word())
    tokens.expect("(")
    if tokens.accept("stream"):
        method.client_streaming = True
    method.input_type = tokens.full_word()
    tokens.expect(")")
    tokens.expect("returns")
    tokens.expect("(")
    if tokens.accept("stream"):
        method.server_streaming = True
    method.output_type = tokens.full_word()
    tokens.expect(")")
    if tokens.accept("{"):
        while not tokens.accept("}"):
            if tokens.accept("option"):
                option_statement(tokens, method.options)
            else:
                tokens.expect(";")
    else:
        tokens.expect(";")
