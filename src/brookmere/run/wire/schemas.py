"""The kernel's Columns of formats with schemas, and what the kernel has to know of registries."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from pyspark.sql import Column
from pyspark.sql import functions as F

from brookmere.errors import UnknownSchemaError
from brookmere.serde import Registry
from brookmere.serde.registered import referred

_MOCK = "mock://"


class SchemaFormats:
    """The part of `Columns` that formats with schemas need, for one session."""

    def __init__(self, jvm: Any, *, registers: bool = True) -> None:
        self._jvm = jvm
        self._wire = jvm.org.apache.spark.sql.brookmere.Wire
        self.registers = registers
        """Whether schemas that are written are registered; checking a program registers nothing."""
        self._mocks: dict[Registry, int] = {}
        """Registries inside this process whose schemas the kernel has, and the next id."""

    def framed(self, front: bytes, payload: Column) -> Column:
        """Return the payload after the frame of a schema registry."""
        return F.concat(F.lit(front), payload)

    def unframed(self, raw: Column) -> Column:
        """Return what follows the frame of a schema registry."""
        return Column(self._kernel.unframed(raw._jc))

    def read_avro(self, raw: Column, schemas: Sequence[str], form: Any, registry: Registry | None) -> Column:
        """Return the value of Avro's binary form, read as the last of the schemas."""
        known = None if registry is None else self._registry(registry)
        return Column(self._kernel.readAvro(raw._jc, list(schemas), json.dumps(form), known))

    def write_avro(self, value: Column, schemas: Sequence[str], id: int | None) -> Column:
        """Return Avro's binary form by the last of the schemas, after the id if there is one."""
        return Column(self._kernel.writeAvro(value._jc, list(schemas), id))

    def read_protobuf(self, raw: Column, message: str, form: Any, *, is_framed: bool) -> Column:
        """Return the value of a Protobuf message, which is described as the kernel reads it."""
        return Column(self._kernel.readProtobuf(raw._jc, message, json.dumps(form), is_framed))

    def write_protobuf(self, value: Column, message: str, front: bytes) -> Column:
        """Return the bytes of a Protobuf message after `front`."""
        return Column(self._kernel.writeProtobuf(value._jc, message, front))

    def publish(self) -> None:
        """Pass schemas that in-process registries received since the last call to the kernel."""
        for registry, first in self._mocks.items():
            client, id = registry.client(), first
            while True:
                try:
                    schema = client.schema(id)
                except UnknownSchemaError:
                    break
                texts = [*referred(client, schema).values(), schema.text]
                self._jvm.brookmere.kernel.formats.Schemas.put(registry.url, id, schema.type, texts)
                id += 1
            self._mocks[registry] = id

    @property
    def _kernel(self) -> Any:
        return self._jvm.org.apache.spark.sql.brookmere.SchemaFormats

    def _registry(self, registry: Registry) -> Any:
        if registry.url.startswith(_MOCK):
            self._mocks.setdefault(registry, 1)
            self.publish()
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
