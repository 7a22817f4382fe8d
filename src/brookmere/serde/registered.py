"""What formats with schemas have in common: a registry, subjects, and the frame with a schema's id."""

from __future__ import annotations

import re
import struct
import threading
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from brookmere.config import Config
from brookmere.config.references import resolved
from brookmere.durations import Duration, to_timedelta
from brookmere.errors import ConfigError, Fault, TopologyError
from brookmere.registry import Reference, RegistryClient, Schema
from brookmere.serde.bad_values import BadBytes
from brookmere.serde.base import Serde
from brookmere.serde.columns import Columns, SparkType, SparkTypes
from brookmere.serde.json.value_schemas import ANY, schema_of_type
from brookmere.serde.structures.dataclass_shapes import StructOf
from brookmere.serde.structures.dataclass_values import build
from brookmere.serde.structures.type_fit import Misfit, SchemaFit

TOPIC, RECORD, TOPIC_RECORD = "topic", "record", "topic_record"
STRATEGIES = (TOPIC, RECORD, TOPIC_RECORD)
FRAME_BYTES = 5

_SCHEMES = ("http://", "https://", "mock://", "${")

_MS = timedelta(milliseconds=1)
_FRAME = struct.Struct(">bI")
_clients: dict[Registry, RegistryClient] = {}
_guard = threading.Lock()


@dataclass(frozen=True, slots=True, repr=False)
class Registry:
    """A schema registry: its address, and who asks.

    The address and the login may refer to secrets by `${env:NAME}` and `${file:path:key}`.
    `url` is one address, or several with commas between them; `mock://name` is a registry inside the process.
    `patience` is how long a running application waits for a registry that does not answer before it stops.
    """

    url: str
    basic_auth: tuple[str, str] | None = field(default=None, kw_only=True)
    ca_file: str | Path | None = field(default=None, kw_only=True)
    cert_file: str | Path | None = field(default=None, kw_only=True)
    key_file: str | Path | None = field(default=None, kw_only=True)
    patience: Duration = field(default=timedelta(seconds=30), kw_only=True)

    @property
    def patience_ms(self) -> int:
        """The patience in milliseconds."""
        return to_timedelta(self.patience) // timedelta(milliseconds=1)

    @property
    def shown(self) -> str:
        """The addresses without a password."""
        return re.sub(r"//[^/,@]*@", "//", self.url)

    def __repr__(self) -> str:
        return f"Registry({self.shown!r})"

    def access(self) -> tuple[str, tuple[str, str] | None]:
        """Return the address and the login, with `${env:NAME}` and `${file:path:key}` resolved."""
        faults: list[Fault] = []
        url = resolved("url of the registry", self.url, faults)
        login = None
        if self.basic_auth is not None:
            user, password = self.basic_auth
            login = (
                resolved("basic_auth of the registry", user, faults),
                resolved("basic_auth of the registry", password, faults),
            )
        if faults:
            raise ConfigError(faults)
        return url, login

    def client(self) -> RegistryClient:
        """Return the client of this registry; there is one, so that what it knows is known to all."""
        with _guard:
            if self not in _clients:
                url, basic_auth = self.access()
                _clients[self] = RegistryClient(
                    url,
                    basic_auth=basic_auth,
                    ca_file=self.ca_file,
                    cert_file=self.cert_file,
                    key_file=self.key_file,
                )
            return _clients[self]


@dataclass(frozen=True, slots=True)
class Registered(Serde):
    """A format with a schema, which may be in a registry. What all of them have in common."""

    type: ClassVar[str]
    """What the registry calls schemas of this format."""

    schema: Any = field(default=None, compare=False)
    registry: Registry | str | Literal[False] | None = field(default=None, kw_only=True)
    subject: str = field(default=TOPIC, kw_only=True)
    register: bool = field(default=True, kw_only=True)
    use_latest: bool = field(default=False, kw_only=True)
    _text: str | None = field(init=False, repr=False)

    @property
    def text(self) -> str | None:
        """The text of the program's own schema, as it is registered; None where the registry says it."""
        return self._text

    @property
    @abstractmethod
    def record_name(self) -> str | None:
        """The full name of what the schema describes."""

    def references(self) -> Iterable[Reference]:
        """Return what the program's own schema refers to."""
        return ()

    @property
    def client(self) -> RegistryClient | None:
        """The client of the registry, or None without one."""
        return self.registry.client() if isinstance(self.registry, Registry) else None

    def for_topic(self, topic: str | None, *, is_key: bool, registry: Registry | None = None) -> Serde:
        if self.registry is None and registry is not None:
            return replace(self, registry=registry).for_topic(topic, is_key=is_key)
        unknown = topic is None and self.subject != RECORD
        if not isinstance(self.registry, Registry) or self.subject not in STRATEGIES or unknown:
            return self
        if self.subject == TOPIC:
            return replace(self, subject=f"{topic}-{'key' if is_key else 'value'}")
        name = self.record_name
        if name is None:
            what = f"{_of(self)} has the subject strategy {self.subject!r} and no schema with a name"
            raise TopologyError([Fault(what, None, "Give a schema with a name, or the subject's own name.")])
        return replace(self, subject=name if self.subject == RECORD else f"{topic}-{name}")

    @abstractmethod
    def type_of(self, schema: Schema) -> SparkType:
        """Return the Spark type of values of a schema of this format."""

    def spark_type(self) -> SparkType:
        return self.type_of(self.expected())

    def written_type(self) -> SparkType:
        """Return the Spark type of the values that are written; asking registers nothing."""
        if self.text is not None and not self.use_latest:
            return self.spark_type()
        return self.type_of(self.written()[1])

    def misfit(self, found: Any, types: SparkTypes) -> Misfit | None:  # noqa: ARG002
        return SchemaFit(_of(self), is_json=self.type == "JSON").misfit(self.written_type(), found)

    def lacks_topic(self, *, is_read: bool) -> bool:
        if self.client is None or self.subject not in STRATEGIES:
            return False
        return not is_read or self.text is None

    def for_changelog(self) -> Serde | None:
        """Return a serde whose schema need not be in a registry: nobody registers those of changelogs."""
        if self.client is None:
            return self
        if self.text is None:
            return None
        return self if self.register and not self.use_latest else self.without_registry()

    def canonical(self) -> Serde | None:
        if self.client is None:
            return None
        schema = self.schema if self.text is not None else self.expected().text
        return replace(self, schema=schema).without_registry()

    def asks_registry(self) -> bool:
        return self.client is not None

    def describe(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "schema": self.text,
            "registry": _describe_registry(self.registry),
            "subject": self.subject,
            "register": self.register,
            "use_latest": self.use_latest,
        }

    @classmethod
    def from_description(cls, found: Mapping[str, Any], *, registry: Registry | None = None) -> Serde:
        return cls(cls._schema_from(found), **cls._options_from(found, registry))

    @classmethod
    def _schema_from(cls, found: Mapping[str, Any]) -> Any:
        return found["schema"]

    @classmethod
    def _options_from(cls, found: Mapping[str, Any], registry: Registry | None) -> dict[str, Any]:
        given = {name: found[name] for name in ("subject", "register", "use_latest")}
        return {"registry": _read_registry(found["registry"], registry), **given}

    def from_json_value(self, parsed: Any) -> Any:
        return parsed if self.shape is None else build(self.shape, parsed)

    @property
    def shape(self) -> StructOf | None:
        """The shape of the dataclass that the Python side gives, if there is one."""
        return None

    def json_schema(self) -> dict[str, Any]:
        # A schema that only the registry has is not asked for: the document must not need the network.
        return ANY if self.text is None else schema_of_type(self.type_of(Schema(self.type, self.text)))

    def for_writing(self, columns: Columns) -> Self:
        """Return the serde to write with: a check of a program registers nothing."""
        return self if columns.registers or self.text is None else self.without_registry()

    def written(self) -> tuple[int | None, Schema]:
        """Return the schema that values are written with, and its id; the first call asks the registry."""
        client, text = self.client, self.text
        if client is None:
            return None, self._plain()
        subject = self._subject()
        if text is None or self.use_latest:
            return self._latest(client, subject)
        given = Schema(self.type, text, tuple(self.references()))
        ask = client.register if self.register else client.lookup
        return ask(subject, text, self.type, given.references), given

    def expected(self) -> Schema:
        """Return the schema that values are read as: the program's own, or the newest of the subject."""
        client, text = self.client, self.text
        if client is None:
            return self._plain()
        if text is not None:
            return Schema(self.type, text)
        return self._latest(client, self._subject())[1]

    def without_registry(self) -> Self:
        """Return the serde that writes and reads the same values without a frame."""
        return replace(self, registry=False, subject=TOPIC, register=True, use_latest=False)

    def _plain(self) -> Schema:
        if self.text is None or self.subject != TOPIC or self.use_latest or not self.register:
            what = f"{_of(self)} needs a registry for what it says, and has none"
            remedy = "Give it registry=, or set schema.registry.url for the application."
            raise TopologyError([Fault(what, None, remedy)])
        return Schema(self.type, self.text)

    def _latest(self, client: RegistryClient, subject: str) -> tuple[int, Schema]:
        latest = client.latest(subject)
        if latest.type != self.type:
            what = f"The newest schema of {subject!r} is of the kind {latest.type}, not {self.type}"
            raise TopologyError([Fault(what, client.url, "Use the serde of that kind, or another subject.")])
        return latest.id, client.schema(latest.id)

    def _subject(self) -> str:
        if self.subject in STRATEGIES:
            what = f"{_of(self)} finds its schema by topic, and does not know the topic"
            remedy = "Call for_topic(name, is_key=...), or give subject= the subject's own name."
            raise TopologyError([Fault(what, None, remedy)])
        return self.subject


def checked(serde: Registered) -> Registry | Literal[False] | None:
    """Return the registry of a serde as a value, or raise TopologyError for what does not fit together."""
    faults = []
    given: object = serde.registry
    name = _of(serde)
    registry = Registry(given) if isinstance(given, str) else given
    if registry is not None and registry is not False and not isinstance(registry, Registry):
        what = f"registry of {name} is an address or a Registry: found {type(given).__name__}"
        faults.append(Fault(what, None, 'Give for example registry="http://localhost:8081".'))
    elif isinstance(registry, Registry) and not registry.url.startswith(_SCHEMES):
        what = f"registry of {name} is not an address: found {registry.shown!r}"
        faults.append(Fault(what, None, 'Give for example "http://localhost:8081" or "mock://test".'))
    subject: object = serde.subject
    if not isinstance(subject, str) or not subject:
        what = f"subject of {name} is a strategy or the name of a subject: found {subject!r}"
        faults.append(Fault(what, None, f"Use one of {', '.join(map(repr, STRATEGIES))}, or a name."))
    elif subject not in STRATEGIES and subject.replace("-", "_") in STRATEGIES:
        what = f"subject of {name} is {subject!r}"
        faults.append(Fault(what, None, f"Did you mean {subject.replace('-', '_')!r}?"))
    if serde.schema is None and registry is False:
        faults.append(Fault(f"{name} has no schema", None, f"Give {name} a schema, or a registry."))
    if faults:
        raise TopologyError(faults)
    return registry if isinstance(registry, Registry) else False if registry is False else None


def referred(client: RegistryClient | None, schema: Schema) -> dict[str, str]:
    """Return the texts of all schemas that one refers to, by the names it uses, needed ones first."""
    texts: dict[str, str] = {}

    def add(references: Iterable[Reference]) -> None:
        for reference in references:
            if client is not None and reference.name not in texts:
                _, found = client.version(reference.subject, reference.version)
                add(found.references)
                texts[reference.name] = found.text

    add(schema.references)
    return texts


def registry_of(config: Config) -> Registry | None:
    """Return the registry of serdes that name none: the setting schema.registry.url."""
    if config.schema_registry_url is None:
        return None
    user, colon, password = (config.basic_auth_user_info or "").partition(":")
    return Registry(config.schema_registry_url, basic_auth=(user, password) if colon else None)


def framed(id: int, payload: bytes) -> bytes:
    """Return a value with the registry's frame before it: a zero, and the schema's id in four bytes."""
    return _FRAME.pack(0, id) + payload


def unframed(data: bytes) -> tuple[int, bytes]:
    """Return the id in the frame, and the value after it."""
    if len(data) < FRAME_BYTES:
        found = f"{len(data)} bytes"
        raise BadBytes(
            f"expected the magic byte 0 and the id of a schema in front of the value, found {found}"
        )
    magic, id = _FRAME.unpack_from(data)
    if magic != 0:
        raise BadBytes(
            f"expected the magic byte 0 in front of the schema's id, found 0x{data[0]:02x}; "
            "the value may have been written without a registry"
        )
    return id, data[FRAME_BYTES:]


def _describe_registry(registry: Registry | str | Literal[False] | None) -> Any:
    if not isinstance(registry, Registry):
        return registry
    user, password = registry.basic_auth or (None, None)
    files = (registry.ca_file, registry.cert_file, registry.key_file)
    return {
        "url": registry.url if "${" in registry.url else registry.shown,
        "user": user,
        "password": password if password and password.startswith("${") else None,
        "files": [None if file is None else str(file) for file in files],
        "patience_ms": registry.patience_ms,
    }


def _read_registry(found: Any, default: Registry | None) -> Registry | Literal[False] | None:
    if not isinstance(found, dict):
        return False if found is False else None
    if default is not None and found["url"] in (default.url, default.shown):
        return default
    user, password = found["user"], found["password"]
    ca_file, cert_file, key_file = found["files"]
    return Registry(
        found["url"],
        basic_auth=(user, password) if user is not None and password is not None else None,
        ca_file=ca_file,
        cert_file=cert_file,
        key_file=key_file,
        patience=found["patience_ms"] * _MS,
    )


def _of(serde: Serde) -> str:
    return type(serde).__name__
