"""Formats of keys and values by name: a built-in serde, a custom serde, any JSON, or a guess."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from brookmere.errors import CommandError, UnsupportedError
from brookmere.names import nearest
from brookmere.registry import RegistryClient
from brookmere.serde import BadBytes, Serde
from brookmere.serde.json.any_json import json_of
from brookmere.serde.json.json_text import to_json
from brookmere.serde.kinds import class_of, imported
from brookmere.serde.registered import FRAME_BYTES

_SERDES = ("text", "int", "long", "double", "bool", "bytes")
_SPACES = str.maketrans("\t\r\n", "   ")

WRITTEN = "text, json, int, long, double, bool, bytes (in hex), or a custom serde as module:Name"
SHOWN = f"auto, {WRITTEN}"


class Format(Protocol):
    """A way to write text or JSON as bytes, and to show bytes."""

    @property
    def name(self) -> str:
        """Its name on the command line."""

    @property
    def expected(self) -> str:
        """What its text looks like, as the end of a sentence."""

    def encode(self, text: str) -> bytes:
        """Encode a text; raise ValueError or TypeError if it does not fit the format."""

    def encode_json(self, value: Any) -> bytes:
        """Encode a JSON value that is not null."""

    def decode(self, data: bytes) -> Any:
        """Decode bytes into a JSON value; raise ValueError if they do not fit the format."""


@dataclass(frozen=True, slots=True)
class SerdeFormat:
    """The format of a serde."""

    name: str
    serde: Serde

    @property
    def expected(self) -> str:
        return self.serde.key_text

    def encode(self, text: str) -> bytes:
        return self._bytes(self.serde.value_from_text(text))

    def encode_json(self, value: Any) -> bytes:
        if isinstance(value, str):
            return self.encode(value)
        if self.serde.kernel_format is None:
            return self._bytes(self.serde.from_json_value(value))
        # Numbers and objects are written as their JSON text.
        is_json = self.name == "text" or isinstance(value, bool | dict | list)
        return self.encode(_json(value) if is_json else str(value))

    def decode(self, data: bytes) -> Any:
        value = self.serde.json_value(self.serde.deserialize(data))
        if isinstance(value, bytes):
            return f"0x{value.hex()}"
        return value if self.serde.kernel_format is not None else json.loads(json_of(value))

    def _bytes(self, value: Any) -> bytes:
        data = self.serde.serialize(value)
        if data is None:
            raise ValueError(f"{self.name} cannot encode it")
        return data


@dataclass(frozen=True, slots=True)
class JsonFormat:
    """Any JSON, unchanged."""

    name: str = "json"
    expected: str = "JSON"

    def encode(self, text: str) -> bytes:
        json.loads(text)
        return text.encode()

    def encode_json(self, value: Any) -> bytes:
        return _json(value).encode()

    def decode(self, data: bytes) -> Any:
        return json.loads(data)


@dataclass(frozen=True, slots=True)
class AutoFormat:
    """A guess, or the value that the registry's schema decodes. It cannot encode."""

    registry: RegistryClient | None = None
    name: str = "auto"
    expected: str = "text"

    def encode(self, text: str) -> bytes:
        return text.encode()

    def encode_json(self, value: Any) -> bytes:
        return _json(value).encode()

    def decode(self, data: bytes) -> Any:
        if self.registry is not None and data[:1] == b"\0" and len(data) > FRAME_BYTES:
            return _by_id(self.registry, data)
        return guess(data)


def written_format(name: str) -> Format:
    """Return the format that `produce` writes.

    Raises:
        CommandError: there is no such format.
    """
    if name == "json":
        return JsonFormat()
    if ":" in name:
        return SerdeFormat(name, _own_serde(name))
    if name in _SERDES:
        return SerdeFormat(name, class_of(name)())
    close = nearest(name, [*_SERDES, "json"])
    hint = f"Did you mean {close!r}?" if close else f"Give {WRITTEN}."
    raise CommandError(f"There is no format {name!r}.\n{hint}")


def shown_format(name: str, registry: RegistryClient | None = None) -> Format:
    """Return the format that `consume` shows; auto uses the registry.

    Raises:
        CommandError: there is no such format.
    """
    return AutoFormat(registry) if name == "auto" else written_format(name)


def guess(data: bytes) -> str | int:
    """Decode bytes as printable text, else as a long if there are eight, else as hex.

    >>> guess(b"brook"), guess(bytes(7) + b"*"), guess(b"\\xff\\x00")
    ('brook', 42, '0xff00')
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = None
    if text is not None and (text.isprintable() or text.translate(_SPACES).isprintable()):
        return text
    if len(data) == 8:
        return int.from_bytes(data, "big", signed=True)
    return f"0x{data.hex()}"


def _by_id(registry: RegistryClient, data: bytes) -> Any:
    # The Avro and Protobuf libraries are slow to import.
    from brookmere.serde.framed_values import value_by_id

    try:
        value = value_by_id(registry, data)
    except BadBytes:
        return guess(data)
    return json.loads(to_json(value))


def _own_serde(path: str) -> Serde:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = imported(path)
        serde = found() if isinstance(found, type) and issubclass(found, Serde) else found
    except UnsupportedError as error:
        raise CommandError(str(error)) from error
    except TypeError as error:
        raise CommandError(
            f"The serde {path} cannot be created without parameters: {error}.\n"
            "Name an instance instead: module:NAME for NAME = Money(digits=2)."
        ) from error
    if not isinstance(serde, Serde):
        raise CommandError(f"{path} is not a serde: found {found!r}.\nName a subclass of bm.Serde.")
    return serde


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
