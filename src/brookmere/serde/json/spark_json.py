"""Turns Python values of a Spark type into the JSON that an application writes of them, and back."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar

from brookmere.serde.base import BadBytes, Serde
from brookmere.serde.binary.text import to_utf8
from brookmere.serde.json.json_text import from_json, json_name
from brookmere.serde.json.spark_reader import Read, reader
from brookmere.serde.json.spark_writer import Write, writer
from brookmere.serde.registered import Registered, framed, unframed


@dataclass(frozen=True, slots=True)
class SparkJson(Serde):
    """JSON of a Spark type, as stores have it: dicts, and dates, decimals and bytes where the type says so.

    `type` is the type in Spark's JSON form. With a `member` the value is the only member of an object: that
    is how a changelog has what is no object by itself. `frame` is the serde whose schema's id comes first.
    Equal values have equal bytes, those that Spark writes.

    >>> SparkJson('"date"', member="value").deserialize(b'{"value":"2024-02-29"}')
    datetime.date(2024, 2, 29)
    """

    kind: ClassVar[str] = "typed_json"

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
