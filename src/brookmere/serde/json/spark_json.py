"""JSON of a Spark type, exactly as Spark writes it: what changelogs have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, ClassVar

from brookmere.serde import kinds
from brookmere.serde.bad_values import BadBytes
from brookmere.serde.base import Serde
from brookmere.serde.columns import Column, Columns, SparkType
from brookmere.serde.json.json_text import from_json, json_name
from brookmere.serde.json.spark_reader import Read, reader
from brookmere.serde.json.spark_writer import Write, writer
from brookmere.serde.registered import Registered, Registry, framed, unframed
from brookmere.serde.utf8 import to_utf8


@dataclass(frozen=True, slots=True)
class SparkJson(Serde):
    """JSON of a Spark type, as stores have it: dicts, and dates, decimals and bytes where the type says so.

    `type` is the type in Spark's JSON form. With a `member` the value is the only member of an object: that
    is how a changelog stores what is not a JSON object by itself. `frame` is the serde whose schema's id
    comes first.
    Equal values have equal bytes, those that Spark writes.

    >>> SparkJson('"date"', member="value").deserialize(b'{"value":"2024-02-29"}')
    datetime.date(2024, 2, 29)
    """

    kind: ClassVar[str] = "typed_json"
    keys_are_text: ClassVar[bool] = True

    type: str
    member: str | None = None
    frame: Registered | None = None
    _read: Read = field(init=False, repr=False, compare=False)
    _write: Write = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        parsed = json.loads(self.type)
        object.__setattr__(self, "_read", reader(parsed))
        object.__setattr__(self, "_write", writer(parsed))

    def serialize(self, value: Any) -> bytes | None:
        if value is None:
            return None
        found = self._write(value, "value")
        payload = to_utf8(found if self.member is None else f'{{"{self.member}":{found}}}')
        id = None if self.frame is None else self.frame.written()[0]
        return payload if id is None else framed(id, payload)

    def deserialize(self, data: bytes | None) -> Any:
        if data is None:
            return None
        if self.frame is not None and self.frame.client is not None:
            data = unframed(data)[1]
        found = from_json(data, parse_float=Decimal)
        if self.member is not None:
            if type(found) is not dict or self.member not in found:
                raise BadBytes(f"expected an object with {self.member!r}, found {json_name(found)}")
            found = found[self.member]
        elif type(found) not in (dict, list):
            raise BadBytes(f"expected an object or an array as JSON, found {json_name(found)}")
        return self.from_parsed(found)

    def from_parsed(self, parsed: Any) -> Any:
        """Return the value for JSON without the object around it, its fractions as Decimal."""
        return self._read(parsed, "value")

    def spark_type(self) -> SparkType:
        return json.loads(self.type)  # type: ignore[no-any-return]

    def read_column(self, raw: Column, columns: Columns) -> Column:
        if self.frame is not None and self.frame.client is not None:
            raw = columns.unframed(raw)
        if self.member is None:
            return columns.from_json(raw, self.spark_type())
        return columns.from_json(raw, self._object())[self.member]

    def write_column(self, value: Column, columns: Columns, found: Any) -> Column:
        if self.frame is not None:
            return self.frame.write_column(value, columns, found)
        return columns.to_json(value if self.member is None else columns.wrapped(value, self.member))

    def canonical(self) -> Serde | None:
        return replace(self, frame=None)

    def asks_registry(self) -> bool:
        return self.frame is not None and self.frame.asks_registry()

    def describe(self) -> dict[str, Any]:
        frame = None if self.frame is None else self.frame.describe()
        return {"kind": self.kind, "type": self.type, "member": self.member, "frame": frame}

    @classmethod
    def from_description(cls, found: Mapping[str, Any], *, registry: Registry | None = None) -> Serde:
        frame = None if found["frame"] is None else kinds.read_serde(found["frame"], registry=registry)
        return cls(found["type"], found["member"], frame if isinstance(frame, Registered) else None)

    def key_from_text(self, text: str) -> Any:
        """Read JSON, or text without its quotes, such as a date."""
        try:
            return self.from_parsed(from_json(text.encode(), parse_float=Decimal))
        except BadBytes as error:
            try:
                return self.from_parsed(text)
            except BadBytes:
                raise error from None

    def stores_json(self) -> bool:
        return self.member is None and self.frame is None

    def _object(self) -> dict[str, Any]:
        field = {"name": self.member, "type": json.loads(self.type), "nullable": True, "metadata": {}}
        return {"type": "struct", "fields": [field]}
