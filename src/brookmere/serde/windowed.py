"""Turns a key and its window into Kafka's bytes for windowed keys, or into readable JSON, and back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, ClassVar, Literal

from brookmere.durations import Duration, to_timedelta
from brookmere.errors import Fault, TopologyError
from brookmere.record import WindowedKey
from brookmere.serde.base import BadBytes, Serde, wrong_type
from brookmere.serde.binary.numbers import Bool, Double, Int, Long
from brookmere.serde.binary.text import Text
from brookmere.serde.json.json import Json
from brookmere.serde.json.json_text import NOT_FINITE, from_json, json_name, to_json
from brookmere.serde.registered import Registry

_FOREVER = 2**63 - 1
_READABLE = (Text, Int, Long, Double, Bool, Json)


@dataclass(frozen=True, slots=True)
class Windowed(Serde):
    """A `WindowedKey`: a struct of key, start and end.

    The binary form is Kafka's: the key's bytes, then the window's start in 8 bytes; for a session window
    its end and its start.
    A time window's end is not written, so reading needs `size`; without it the end is 2**63 - 1, as in Kafka.
    `form="json"` writes `{"key":...,"start":...,"end":...}` instead.
    """

    kind: ClassVar[str] = "windowed"

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
        return None if self.size is None else to_timedelta(self.size) // timedelta(milliseconds=1)

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
            readable = key if isinstance(self.inner, Json) else to_json(value.key)
            return b'{"key":%b,"start":%d,"end":%d}' % (readable, value.start, value.end)
        return key + end + start if self.session else key + start

    def deserialize(self, data: bytes | None) -> Any:
        if data is None:
            return None
        return self._from_json(data) if self.form == "json" else self._from_binary(data)

    def for_topic(self, topic: str | None, *, is_key: bool, registry: Registry | None = None) -> Serde:
        return replace(self, inner=self.inner.for_topic(topic, is_key=is_key, registry=registry))

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
        parse_float = self.inner.parse_float if isinstance(self.inner, Json) else float
        members = from_json(data, parse_float=parse_float)
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
        if isinstance(self.inner, Json):
            return self.inner.from_parsed(member)
        if isinstance(self.inner, Double) and member in NOT_FINITE:
            return float(member)
        try:
            # The inner serde knows which values are its own: the way there and back applies its rules.
            return self.inner.deserialize(self.inner.serialize(member))
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
    elif form == "json" and not isinstance(inner, _READABLE):
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
    if size <= timedelta(0) or size % timedelta(milliseconds=1):
        what = f"size of Windowed is a positive number of whole milliseconds: found {size}"
        return [Fault(what, None, "Give the size that the windows of the topic have.")]
    return []


def _windowed(key: Any, start: int, end: int) -> WindowedKey:
    try:
        return WindowedKey(key, start, end)
    except ValueError as error:
        raise BadBytes(str(error)) from None


def _long(number: int) -> bytes:
    try:
        return number.to_bytes(8, "big", signed=True)
    except OverflowError:
        raise ValueError(f"{number} is no time of a window: it does not fit 8 bytes") from None
