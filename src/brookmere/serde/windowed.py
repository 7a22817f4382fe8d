"""A key with its window: Kafka's bytes for windowed keys, or readable JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, ClassVar, Literal

from brookmere.durations import Duration, to_timedelta
from brookmere.errors import Fault, TopologyError
from brookmere.record import WindowedKey
from brookmere.serde import kinds
from brookmere.serde.bad_values import BadBytes, wrong_type
from brookmere.serde.base import Serde
from brookmere.serde.columns import Column, Columns, SparkType, SparkTypes
from brookmere.serde.json.json_text import from_json, json_name
from brookmere.serde.json.value_schemas import ANY
from brookmere.serde.registered import Registry
from brookmere.serde.structures.spark_fields import form_of
from brookmere.serde.structures.type_fit import Misfit, is_window, member, other_type

_FOREVER = 2**63 - 1
_MS = timedelta(milliseconds=1)
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Windowed(Serde):
    """A `WindowedKey`: a struct of key, start and end.

    The binary form is Kafka's: the key's bytes, then the window's start in 8 bytes; for a session window
    its end and its start.
    A time window's end is not written, so reading needs `size`; without it the end is 2**63 - 1, as in Kafka.
    `form="json"` writes `{"key":...,"start":...,"end":...}` instead.
    """

    kind: ClassVar[str] = "windowed"
    is_default: ClassVar[bool] = True
    key_text: ClassVar[str] = 'JSON such as {"key": ..., "start": 0, "end": 5000}'

    inner: Serde
    size: Duration | None = None
    session: bool = False
    form: Literal["binary", "json"] = "binary"

    def __post_init__(self) -> None:
        faults = _faults(self)
        if faults:
            raise TopologyError(faults)
        if self.size is not None:
            # Serdes of equal size are equal, however the size is written.
            object.__setattr__(self, "size", to_timedelta(self.size))

    @property
    def size_ms(self) -> int | None:
        """The window's size in milliseconds, or None."""
        return None if self.size is None else to_timedelta(self.size) // _MS

    @property
    def window_bytes(self) -> int:
        """How many bytes at the end of a serialised key are its window."""
        if self.form == "json":
            return 0
        return 16 if self.session else 8

    def serialize(self, value: Any) -> bytes | None:
        if value is None:
            return None
        if not isinstance(value, WindowedKey):
            raise wrong_type("Windowed", "a WindowedKey", value, "build WindowedKey(key, start, end)")
        if not self.session and self.size_ms is not None and value.end != self._end(value.start):
            raise ValueError(
                f"window {value.start} to {value.end} is not {self.size_ms} ms long, the size of this serde; "
                "correct the end or the size"
            )
        key = self.inner.serialize(value.key)
        if key is None:
            raise ValueError("a WindowedKey without a key has no bytes; give it a key")
        start, end = _long(value.start), _long(value.end)
        if self.form == "json":
            return b'{"key":%b,"start":%d,"end":%d}' % (
                self.inner.key_to_json(value.key),
                value.start,
                value.end,
            )
        return key + end + start if self.session else key + start

    def deserialize(self, data: bytes | None) -> Any:
        if data is None:
            return None
        return self._from_json(data) if self.form == "json" else self._from_binary(data)

    def for_topic(self, topic: str | None, *, is_key: bool, registry: Registry | None = None) -> Serde:
        return replace(self, inner=self.inner.for_topic(topic, is_key=is_key, registry=registry))

    def spark_type(self) -> SparkType:
        return _window_type(form_of(self.inner.spark_type()))

    def read_column(self, raw: Column, columns: Columns) -> Column:
        if self.form == "json":
            return columns.valid_window(columns.from_json(raw, _window_type(columns.types.of(self.inner))))
        key = columns.read_windowed(self.inner, raw, size_ms=self.size_ms, session=self.session)
        return columns.valid_window(key)

    def write_column(self, value: Column, columns: Columns, found: Any) -> Column:
        if self.form == "json":
            return columns.whole_window(value, columns.to_json(value))
        return columns.write_windowed(self.inner, value, member(found, "key"), session=self.session)

    def misfit(self, found: Any, types: SparkTypes) -> Misfit | None:
        if not is_window(found):
            return other_type("Windowed", found, "Make it a struct of key, start and end")
        for name in ("start", "end"):
            if member(found, name) != "long":
                return other_type("Windowed", found, f"Cast {name} to bigint")
        inner = self.inner.misfit(member(found, "key"), types)
        return None if inner is None else (f"has a key that {inner[0]}", inner[1])

    def settled(self, found: Any) -> Serde | None:
        inner = self.inner.settled(member(found, "key")) if is_window(found) else self.inner
        return None if inner is None or not inner.kind else replace(self, inner=inner)

    def lacks_topic(self, *, is_read: bool) -> bool:
        return self.inner.lacks_topic(is_read=is_read)

    def as_stored(self, found: Any | None, types: SparkTypes) -> Serde:
        if self.form == "json":
            # The key is a part of the text.
            return self
        inner = member(found, "key") if found is not None and is_window(found) else None
        return replace(self, inner=self.inner.as_stored(inner, types))

    def canonical(self) -> Serde | None:
        inner = self.inner.canonical() if self.form == "binary" else None
        return None if inner is None else replace(self, inner=inner)

    def asks_registry(self) -> bool:
        return self.inner.asks_registry()

    def describe(self) -> dict[str, Any]:
        window = {"size_ms": self.size_ms, "session": self.session, "form": self.form}
        return {"kind": self.kind, "inner": self.inner.describe(), **window}

    @classmethod
    def from_description(cls, found: Mapping[str, Any], *, registry: Registry | None = None) -> Serde:
        size = None if found["size_ms"] is None else found["size_ms"] * _MS
        inner = kinds.read_serde(found["inner"], registry=registry)
        return cls(inner, size, session=found["session"], form=found["form"])

    def key_from_text(self, text: str) -> Any:
        found = from_json(text.encode())
        if not isinstance(found, dict) or found.keys() != {"key", "start", "end"}:
            raise ValueError(text[:_SHOWN])
        key = found["key"]
        inner = key if isinstance(key, str) else json.dumps(key)
        return WindowedKey(self.inner.key_from_text(inner), found["start"], found["end"])

    def key_to_text(self, key: Any) -> str:
        inner = self.inner.key_to_text(key.key)
        return json.dumps({"key": inner, "start": key.start, "end": key.end}, ensure_ascii=False)

    def json_value(self, value: Any) -> Any:
        shown = self.inner.json_value(value.key)
        return value if shown is value.key else {"key": shown, "start": value.start, "end": value.end}

    def json_schema(self) -> dict[str, Any]:
        return ANY

    def _from_binary(self, data: bytes) -> WindowedKey:
        tail = 16 if self.session else 8
        if len(data) < tail:
            kind = "session" if self.session else "time"
            raise BadBytes(
                f"expected at least {tail} bytes for a key with its {kind} window, found {len(data)}"
            )
        start = int.from_bytes(data[-8:], "big", signed=True)
        end = int.from_bytes(data[-16:-8], "big", signed=True) if self.session else self._end(start)
        return _windowed(self.inner.deserialize(data[:-tail]), start, end)

    def _from_json(self, data: bytes) -> WindowedKey:
        members = from_json(data, parse_float=self.inner.parse_float)
        if not isinstance(members, dict) or members.keys() != {"key", "start", "end"}:
            raise BadBytes('expected a JSON object with the fields "key", "start" and "end"')
        start, end = members["start"], members["end"]
        if type(start) is not int or type(end) is not int:
            found = f"{json_name(start)} and {json_name(end)}"
            raise BadBytes(f'expected whole numbers as "start" and "end", found {found}')
        return _windowed(self._key_from_json(members["key"]), start, end)

    def _key_from_json(self, member: Any) -> Any:
        if member is None:
            raise BadBytes('expected a "key", found null')
        try:
            return self.inner.from_json_value(member)
        except BadBytes:
            raise
        except (TypeError, ValueError) as error:
            raise BadBytes(f'"key" does not fit: {error}') from None

    def _end(self, start: int) -> int:
        size = self.size_ms
        return _FOREVER if size is None else min(start + size, _FOREVER)


def _faults(serde: Windowed) -> list[Fault]:
    faults = []
    inner: object = serde.inner
    form: object = serde.form
    if not isinstance(inner, Serde):
        found = inner if isinstance(inner, type) else type(inner)
        what = f"Windowed needs the serde of the key inside: found {found.__name__}"
        faults.append(Fault(what, None, "Give it a serde such as Windowed(Text())."))
    elif form == "json" and not inner.has_json_key:
        what = f"A key of {type(inner).__name__} has no JSON form"
        faults.append(
            Fault(what, None, 'Use Text, Int, Long, Double, Bool or Json inside, or form="binary".')
        )
    if form not in ("binary", "json"):
        faults.append(Fault(f"Windowed has no form {form!r}", None, 'Use form="binary" or form="json".'))
    if serde.size is not None:
        faults += _size_faults(serde.size, session=serde.session)
    return faults


def _size_faults(size: object, *, session: bool) -> list[Fault]:
    try:
        size = to_timedelta(size)
    except (TypeError, ValueError) as error:
        return [Fault(f"size of Windowed: {error}", None, 'Use for example timedelta(seconds=5) or "5s".')]
    if session:
        return [
            Fault("Session windows have no fixed size", None, "Leave out size=, or leave out session=True.")
        ]
    if size <= timedelta(0) or size % _MS:
        what = f"size of Windowed is a positive number of whole milliseconds: found {size}"
        return [Fault(what, None, "Give the size that the windows of the topic have.")]
    return []


def _window_type(key: Any) -> dict[str, Any]:
    types = {"key": key, "start": "long", "end": "long"}
    fields = [{"name": name, "type": kind, "nullable": False, "metadata": {}} for name, kind in types.items()]
    return {"type": "struct", "fields": fields}


def _windowed(key: Any, start: int, end: int) -> WindowedKey:
    try:
        return WindowedKey(key, start, end)
    except ValueError as error:
        raise BadBytes(str(error)) from None


def _long(number: int) -> bytes:
    try:
        return number.to_bytes(8, "big", signed=True)
    except OverflowError:
        raise ValueError(f"{number} is not the time of a window: it does not fit 8 bytes") from None
