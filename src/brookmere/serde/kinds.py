"""Turns a serde into a JSON object that another process can read, and back."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from google.protobuf.descriptor_pb2 import FileDescriptorSet

from brookmere.errors import UnsupportedError
from brookmere.names import nearest
from brookmere.serde.avro.avro import Avro
from brookmere.serde.base import Serde
from brookmere.serde.binary.numbers import Bool, Double, Int, Long
from brookmere.serde.binary.pickled import Pickled
from brookmere.serde.binary.text import Bytes, Text
from brookmere.serde.json.json import Json
from brookmere.serde.json.json_schema import JsonSchema
from brookmere.serde.json.spark_json import SparkJson
from brookmere.serde.protobuf.protobuf import Protobuf
from brookmere.serde.registered import Registered, Registry
from brookmere.serde.windowed import Windowed

_PLAIN: dict[str, type[Serde]] = {each.kind: each for each in (Text, Bytes, Int, Long, Double, Bool, Pickled)}
_REGISTERED: dict[str, type[Registered]] = {each.kind: each for each in (Avro, Protobuf, JsonSchema)}
_MS = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class _SparkType:
    """A type as Spark would give it."""

    text: str

    def json(self) -> str:
        return self.text


def describe_serde(serde: Serde) -> dict[str, Any]:
    """Return a serde as a JSON object.

    A dataclass or a generated class becomes its schema: who reads with it gets dicts. Passwords of a registry
    are left out, unless they are references such as `${env:NAME}`.

    Raises:
        UnsupportedError: the serde has functions of the program.

    >>> describe_serde(Windowed(Text(), size=timedelta(seconds=5)))
    {'kind': 'windowed', 'inner': {'kind': 'text'}, 'size_ms': 5000, 'session': False, 'form': 'binary'}
    """
    kind = {"kind": serde.kind}
    match serde:
        case Json():
            return kind | ({"ddl": serde.ddl} if serde.ddl is not None else {"type": serde.schema_json()})
        case SparkJson():
            frame = None if serde.frame is None else describe_serde(serde.frame)
            return kind | {"type": serde.type, "member": serde.member, "frame": frame}
        case Windowed():
            inner = describe_serde(serde.inner)
            size, form = serde.size_ms, serde.form
            return kind | {"inner": inner, "size_ms": size, "session": serde.session, "form": form}
        case Registered():
            return kind | _describe_registered(serde)
        case _ if serde.kind in _PLAIN:
            return dict(kind)
    raise UnsupportedError(
        f"The serde {getattr(serde, 'name', type(serde).__name__)!r} cannot be described as JSON. "
        "Found: functions of the program. Other processes need the program itself."
    )


def read_serde(found: Mapping[str, Any], *, registry: Registry | None = None) -> Serde:
    """Return the serde of a description. `registry` knows the login where it is the one that is meant.

    Raises:
        UnsupportedError: there is no such serde.
    """
    kind = found["kind"]
    if kind in _PLAIN:
        return _PLAIN[kind]()
    if kind == Json.kind:
        return Json(found["ddl"] if "ddl" in found else _SparkType(found["type"]))
    if kind == SparkJson.kind:
        frame = None if found["frame"] is None else read_serde(found["frame"], registry=registry)
        return SparkJson(found["type"], found["member"], frame if isinstance(frame, Registered) else None)
    if kind == Windowed.kind:
        size = None if found["size_ms"] is None else found["size_ms"] * _MS
        inner = read_serde(found["inner"], registry=registry)
        return Windowed(inner, size, session=found["session"], form=found["form"])
    if kind in _REGISTERED:
        return _read_registered(found, registry)
    close = nearest(kind, [*_PLAIN, *_REGISTERED, Json.kind, Windowed.kind])
    hint = f"Did you mean {close!r}?" if close else "A newer version of Brookmere may know it."
    raise UnsupportedError(f"There is no serde of the kind {kind!r}. {hint}")


def _describe_registered(serde: Registered) -> dict[str, Any]:
    described: dict[str, Any] = {
        "schema": serde.text,
        "registry": _describe_registry(serde.registry),
        "subject": serde.subject,
        "register": serde.register,
        "use_latest": serde.use_latest,
    }
    if isinstance(serde, Avro):
        described["name"] = serde.name
    if isinstance(serde, Protobuf):
        described["message"] = serde.message
        if serde.schema is not None and not isinstance(serde.schema, str):
            # Its text alone would not have what it imports.
            described["files"] = base64.b64encode(_files(serde).SerializeToString()).decode("ascii")
            described["message"] = serde.record_name
    return described


def _read_registered(found: Mapping[str, Any], default: Registry | None) -> Serde:
    schema = found["schema"]
    if "files" in found:
        schema = FileDescriptorSet.FromString(base64.b64decode(found["files"]))
    own = {name: found[name] for name in ("name", "message") if name in found}
    return _REGISTERED[found["kind"]](
        schema,
        registry=_read_registry(found["registry"], default),
        subject=found["subject"],
        register=found["register"],
        use_latest=found["use_latest"],
        **own,
    )


def _files(serde: Protobuf) -> FileDescriptorSet:
    files = FileDescriptorSet()
    seen: set[str] = set()

    def add(file: Any) -> None:
        if file.name not in seen:
            seen.add(file.name)
            for needed in file.dependencies:
                add(needed)
            file.CopyToProto(files.file.add())

    add(serde.expected_message().file)
    return files


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
