"""Turns serdes with schemas into the kernel's Columns, and tells the kernel what registries know."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
    _parse_datatype_json_string,
)

from brookmere.errors import UnknownSchemaError
from brookmere.registry import Schema
from brookmere.run.wire.required_fields import checked
from brookmere.serde import Registered, Registry
from brookmere.serde.avro.avro import Avro
from brookmere.serde.avro.avro import type_json as avro_type
from brookmere.serde.json.json_schema import JsonSchema, writes_nulls
from brookmere.serde.json.json_schema import type_json as json_type
from brookmere.serde.protobuf.protobuf import Protobuf, message_json
from brookmere.serde.protobuf.protobuf import type_json as protobuf_type
from brookmere.serde.registered import framed, referred

_MOCK = "mock://"
S = TypeVar("S", bound=Registered)


def read_type(serde: Registered) -> DataType:
    """Return the type of the values that are read."""
    if isinstance(serde, Protobuf):
        return _parse_datatype_json_string(protobuf_type(serde.expected_message()))
    return _type_of(serde, serde.expected())


def write_type(serde: Registered) -> DataType:
    """Return the type of the values that are written; nothing is registered by asking."""
    if serde.text is not None and not serde.use_latest:
        return read_type(serde)
    if isinstance(serde, Protobuf):
        return _parse_datatype_json_string(protobuf_type(serde.written_message()[1]))
    return _type_of(serde, serde.written()[1])


def _type_of(serde: Registered, schema: Schema) -> DataType:
    if isinstance(serde, Avro):
        return _parse_datatype_json_string(avro_type(schema, referred(serde.client, schema)))
    return _parse_datatype_json_string(json_type(schema))


@dataclass(slots=True)
class SchemaFormats:
    """Makes the Columns of formats with schemas, for one session."""

    jvm: Any
    registers: bool = True
    """Whether schemas that are written are registered; a check of a program changes nothing."""
    mocks: dict[Registry, int] = field(default_factory=dict)
    """Registries inside this process that the kernel was told about, and the id that comes next."""

    def decode_avro(self, serde: Avro, raw: Column) -> Column:
        """Return the value of the bytes `raw`."""
        schema = serde.expected()
        registry = None
        if isinstance(serde.registry, Registry):
            registry = self._registry(serde.registry)
        kind = json.dumps(read_type(serde).jsonValue())
        return Column(self._kernel.readAvro(raw._jc, self._texts(serde, schema), kind, registry))

    def encode_avro(self, serde: Avro, value: Column) -> Column:
        """Return the bytes of `value`."""
        serde = self._writing(serde)
        id, schema = serde.written()
        return Column(self._kernel.writeAvro(value._jc, self._texts(serde, schema), id))

    def decode_protobuf(self, serde: Protobuf, raw: Column) -> Column:
        """Return the message of the bytes `raw`."""
        message = serde.expected_message()
        kind = json.dumps(read_type(serde).jsonValue())
        is_framed = serde.client is not None
        return Column(self._kernel.readProtobuf(raw._jc, message_json(message), kind, is_framed))

    def encode_protobuf(self, serde: Protobuf, value: Column) -> Column:
        """Return the bytes of the message `value`."""
        front, message = self._writing(serde).written_message()
        return Column(self._kernel.writeProtobuf(value._jc, message_json(message), front))

    def unframed(self, serde: JsonSchema, raw: Column) -> Column:
        """Return the JSON in the bytes `raw`."""
        return raw if serde.client is None else Column(self._kernel.unframed(raw._jc))

    def encode_json(self, serde: JsonSchema, value: Column, found: DataType) -> Column:
        """Return the JSON of `value`, which has the type `found`."""
        id, schema = self._writing(serde).written()
        expected = _type_of(serde, schema)
        whole = checked(value, _common(expected, found))
        nulls = {"ignoreNullFields": "false" if writes_nulls(expected.jsonValue()) else "true"}
        text = F.to_json(whole, nulls).cast("binary")
        return text if id is None else F.concat(F.lit(framed(id, b"")), text)

    def tell(self) -> None:
        """Tell the kernel about schemas that registries inside this process got since the last time."""
        for registry, first in self.mocks.items():
            client, id = registry.client(), first
            while True:
                try:
                    schema = client.schema(id)
                except UnknownSchemaError:
                    break
                texts = [*referred(client, schema).values(), schema.text]
                self.jvm.brookmere.kernel.formats.Schemas.put(registry.url, id, schema.type, texts)
                id += 1
            self.mocks[registry] = id

    @property
    def _kernel(self) -> Any:
        return self.jvm.org.apache.spark.sql.brookmere.SchemaFormats

    def _writing(self, serde: S) -> S:
        return serde if self.registers or serde.text is None else serde.without_registry()

    def _texts(self, serde: Avro, schema: Schema) -> list[str]:
        return [*referred(serde.client, schema).values(), schema.text]

    def _registry(self, registry: Registry) -> Any:
        if registry.url.startswith(_MOCK):
            self.mocks.setdefault(registry, 1)
            self.tell()
        addresses, login = _addresses(registry)
        files = (registry.ca_file, registry.cert_file, registry.key_file)
        pem = [None if file is None else Path(file).read_text(encoding="utf-8") for file in files]
        return self._kernel.registry(addresses, login, *pem, registry.patience_ms)


def _addresses(registry: Registry) -> tuple[list[str], str | None]:
    """Return the addresses without a user, and the user with the password."""
    url, basic_auth = registry.access()
    login = None if basic_auth is None else ":".join(basic_auth)
    addresses = []
    for address in url.split(","):
        parts = urlsplit(address.strip().rstrip("/"))
        user, _, host = parts.netloc.rpartition("@")
        login = unquote(user) if user else login
        addresses.append(urlunsplit(parts._replace(netloc=host)))
    return addresses, login


def _common(schema: DataType, found: DataType) -> DataType:
    """Return what the schema says about the parts that a value has."""
    if isinstance(schema, StructType) and isinstance(found, StructType):
        return StructType(
            [
                StructField(part.name, _common(part.dataType, found[part.name].dataType), part.nullable)
                for part in schema.fields
                if part.name in found.names
            ]
        )
    if isinstance(schema, ArrayType) and isinstance(found, ArrayType):
        return ArrayType(_common(schema.elementType, found.elementType), schema.containsNull)
    if isinstance(schema, MapType) and isinstance(found, MapType):
        return MapType(schema.keyType, _common(schema.valueType, found.valueType), schema.valueContainsNull)
    return found
