"""The client of a schema registry; answers that never change are cached."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from brookmere.durations import Duration, to_seconds
from brookmere.errors import RegistryError, UnknownSchemaError
from brookmere.registry.client.errors import refused
from brookmere.registry.client.transport import Access, Transport, transport_to
from brookmere.registry.schemas.schema import (
    AVRO,
    Latest,
    Reference,
    Schema,
    references_from,
    schema_from_json,
    schema_to_json,
)

_TIMEOUT_SECONDS = 10.0
_REMEMBERED = 10_000


class Compatibility(NamedTuple):
    """Whether a schema may be registered next, and the reasons against it."""

    compatible: bool
    reasons: tuple[str, ...]


class RegistryClient:
    """Talk to a schema registry with Confluent's REST interface.

    `url` is one address, or several separated by commas that are tried in turn. `mock://name` is a registry
    inside this process, shared by all clients of that name. `basic_auth` is a user and a password.

    >>> registry = RegistryClient("mock://reading")
    >>> number = registry.register("orders-value", '"string"')
    >>> registry.schema(number).text
    '"string"'
    """

    def __init__(
        self,
        url: str,
        *,
        basic_auth: tuple[str, str] | None = None,
        ca_file: str | Path | None = None,
        cert_file: str | Path | None = None,
        key_file: str | Path | None = None,
        timeout: Duration = timedelta(seconds=_TIMEOUT_SECONDS),
    ) -> None:
        self._access = Access(
            url,
            basic_auth=basic_auth,
            ca_file=None if ca_file is None else str(ca_file),
            cert_file=None if cert_file is None else str(cert_file),
            key_file=None if key_file is None else str(key_file),
            timeout=to_seconds(timeout),
        )
        self._transport: Transport = transport_to(self._access)
        self._lock = threading.Lock()
        self._ids: dict[tuple[str, str, Schema], int] = {}
        self._schemas: dict[int, Schema] = {}

    @property
    def url(self) -> str:
        """The address, without a password."""
        return self._access.shown

    def register(
        self,
        subject: str,
        schema_text: str,
        type: str = AVRO,
        references: Iterable[Reference | tuple[str, str, int]] = (),
        *,
        normalize: bool = False,
    ) -> int:
        """Add a schema to a subject unless it is already registered, and return its id."""
        schema = Schema(type, schema_text, references_from(references))
        return self._id_of("register", subject, schema, f"/subjects/{_part(subject)}/versions", normalize)

    def lookup(
        self,
        subject: str,
        schema_text: str,
        type: str = AVRO,
        references: Iterable[Reference | tuple[str, str, int]] = (),
        *,
        normalize: bool = False,
    ) -> int:
        """Return the id of a schema that is already registered in the subject."""
        schema = Schema(type, schema_text, references_from(references))
        return self._id_of("lookup", subject, schema, f"/subjects/{_part(subject)}", normalize)

    def schema(self, id: int) -> Schema:
        """Return the kind, the text and the references of a schema."""
        with self._lock:
            known = self._schemas.get(id)
        if known is not None:
            return known
        found = schema_from_json(self._ask("GET", f"/schemas/ids/{id}", f"the schema with id {id}"))
        with self._lock:
            _remember(self._schemas, id, found)
        return found

    def latest(self, subject: str) -> Latest:
        """Return the latest version of a subject. Not cached, because it may change."""
        fields = self._ask(
            "GET", f"/subjects/{_part(subject)}/versions/latest", f"the latest schema of {subject!r}"
        )
        schema = schema_from_json(fields)
        with self._lock:
            _remember(self._schemas, fields["id"], schema)
        return Latest(fields["version"], fields["id"], schema.type, schema.text)

    def version(self, subject: str, version: int) -> tuple[int, Schema]:
        """Return the id and the schema of one version of a subject, as references need it."""
        what = f"version {version} of {subject!r}"
        fields = self._ask("GET", f"/subjects/{_part(subject)}/versions/{version}", what)
        return fields["id"], schema_from_json(fields)

    def versions(self, subject: str) -> list[int]:
        """Return the version numbers of a subject."""
        return list(self._ask("GET", f"/subjects/{_part(subject)}/versions", f"the versions of {subject!r}"))

    def subjects(self) -> list[str]:
        """Return the names of all subjects."""
        return list(self._ask("GET", "/subjects", "the subjects"))

    def compatibility(self, subject: str) -> str:
        """Return the compatibility level that applies to a subject."""
        path = f"/config/{_part(subject)}?defaultToGlobal=true"
        return str(self._ask("GET", path, f"the compatibility level of {subject!r}")["compatibilityLevel"])

    def set_compatibility(self, level: str, subject: str | None = None) -> None:
        """Set the compatibility level of a subject, or the default of all others."""
        path = "/config" if subject is None else f"/config/{_part(subject)}"
        what = "the compatibility level" if subject is None else f"the compatibility level of {subject!r}"
        self._ask("PUT", path, what, {"compatibility": level})

    def test_compatibility(
        self,
        subject: str,
        schema_text: str,
        type: str = AVRO,
        references: Iterable[Reference | tuple[str, str, int]] = (),
    ) -> Compatibility:
        """Return whether a schema could be registered, and why not; a new subject accepts any schema."""
        body = schema_to_json(Schema(type, schema_text, references_from(references)))
        path = f"/compatibility/subjects/{_part(subject)}/versions?verbose=true"
        try:
            fields = self._ask("POST", path, f"the compatibility of a schema with {subject!r}", body)
        except UnknownSchemaError:
            return Compatibility(True, ())
        return Compatibility(fields["is_compatible"], tuple(fields.get("messages") or ()))

    def _id_of(self, purpose: str, subject: str, schema: Schema, path: str, normalize: bool) -> int:
        key = (purpose, subject, schema)
        with self._lock:
            known = self._ids.get(key)
        if known is not None:
            return known
        what = f"a schema for {subject!r}"
        query = "?normalize=true" if normalize else ""
        found = int(self._ask("POST", path + query, what, schema_to_json(schema))["id"])
        with self._lock:
            _remember(self._ids, key, found)
        return found

    def _ask(self, method: str, path: str, what: str, body: Any = None) -> Any:
        status, answer = self._transport.send(method, path, body)
        if 200 <= status < 300:
            return answer
        raise refused(method, what, self._access.shown, status, answer)

    def __repr__(self) -> str:
        return f"RegistryClient({self._access.shown!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RegistryClient) and self._access == other._access

    def __hash__(self) -> int:
        return hash(self._access)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._access,)


def _again(access: Access) -> RegistryClient:
    return RegistryClient(
        access.url,
        basic_auth=access.basic_auth,
        ca_file=access.ca_file,
        cert_file=access.cert_file,
        key_file=access.key_file,
        timeout=timedelta(seconds=access.timeout),
    )


def _part(name: str) -> str:
    if not name:
        raise RegistryError("The name of a subject is empty. Found ''. Pass a name such as 'orders-value'.")
    return quote(name, safe="")


def _remember(cache: dict[Any, Any], key: Any, value: Any) -> None:
    # Registered schemas never change; the oldest entry is evicted only to bound memory.
    if len(cache) >= _REMEMBERED:
        del cache[next(iter(cache))]
    cache[key] = value
