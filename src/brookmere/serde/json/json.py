"""JSON objects and arrays by a schema of Spark or a dataclass."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, is_dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar

from brookmere.errors import Fault, TopologyError
from brookmere.serde.bad_values import BadBytes, wrong_type
from brookmere.serde.base import Serde
from brookmere.serde.columns import Column, Columns, SparkType, SparkTypes
from brookmere.serde.json.any_json import json_of
from brookmere.serde.json.json_text import from_json, json_name, to_json
from brookmere.serde.json.spark_json import SparkJson
from brookmere.serde.structures.dataclass_shapes import StructOf, shape_of, spark_schema
from brookmere.serde.structures.dataclass_values import check, read
from brookmere.serde.structures.type_fit import Misfit, is_whole, json_misfit, other_type

if TYPE_CHECKING:
    from brookmere.serde.registered import Registry

MEMBER = "value"
"""The field that holds a value in a changelog, if the value is not a JSON object by itself."""

_REMEDY = 'Give a DDL string such as Json("id bigint, name string"), a StructType or a dataclass.'


@dataclass(frozen=True, slots=True)
class Json(Serde):
    """A JSON object in UTF-8, with the schema that Spark reads it by.

    The schema is a DDL string, a Spark StructType or a dataclass.
    The Python side gives dicts, or instances of the dataclass.
    An absent field is a null, as in Spark, so a dataclass must allow it by `| None`.

    >>> Json("symbol string, ask double").serialize({"symbol": "A", "ask": 1.5})
    b'{"symbol":"A","ask":1.5}'
    """

    kind: ClassVar[str] = "json"
    is_default: ClassVar[bool] = True
    has_json_key: ClassVar[bool] = True
    keys_are_text: ClassVar[bool] = True

    schema: Any = field(compare=False)
    ddl: str | None = field(init=False, repr=False)
    """The schema as a DDL string, when it was given as one."""
    record: type | None = field(init=False, repr=False)
    """The dataclass, when the schema was given as one."""
    _schema_json: str | None = field(init=False, repr=False)
    _shape: StructOf | None = field(init=False, repr=False, compare=False)
    _is_array: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        schema = self.schema
        record = schema if isinstance(schema, type) and is_dataclass(schema) else None
        shape = shape_of(record) if record is not None else None
        ddl, schema_json = None, None
        if isinstance(schema, str):
            ddl = schema.strip()
        elif shape is not None:
            schema_json = json.dumps(spark_schema(shape), separators=(",", ":"))
        elif not isinstance(schema, type) and callable(getattr(schema, "json", None)):
            schema_json = schema.json()
        if not ddl and not schema_json:
            raise TopologyError([Fault(f"Json has no schema: found {_found(schema)}", None, _REMEDY)])
        object.__setattr__(self, "ddl", ddl)
        object.__setattr__(self, "record", record)
        object.__setattr__(self, "_schema_json", schema_json)
        object.__setattr__(self, "_shape", shape)
        object.__setattr__(self, "_is_array", _is_array(ddl, schema_json))

    def schema_json(self) -> str | None:
        """Return Spark's JSON form of the schema, or None when the schema is a DDL string."""
        return self._schema_json

    def serialize(self, value: Any) -> bytes | None:
        if value is None:
            return None
        if self._shape is not None:
            check(self._shape, value, self._shape.python.__name__)
        elif self._is_array and not isinstance(value, list | tuple):
            raise wrong_type("Json of an array", "a list", value, "convert it with list(...)")
        elif not self._is_array and not _is_object(value):
            raise wrong_type(
                "Json", "a dict or a dataclass", value, "convert it, or use the serde of its type"
            )
        return to_json(value)

    def deserialize(self, data: bytes | None) -> Any:
        if data is None:
            return None
        return self.from_parsed(from_json(data, parse_float=self.parse_float))

    @property
    def parse_float(self) -> Callable[[str], Any]:
        """How `from_parsed` expects the numbers with a fraction."""
        return float if self._shape is None else Decimal

    def from_parsed(self, parsed: Any) -> Any:
        """Return the value for JSON that is parsed already; raise BadBytes where it does not fit."""
        if self._shape is not None:
            return read(self._shape, parsed, self._shape.python.__name__)
        if not isinstance(parsed, list if self._is_array else dict):
            expected = "an array" if self._is_array else "an object"
            raise BadBytes(f"expected {expected} as JSON, found {json_name(parsed)}")
        return parsed

    def spark_type(self) -> SparkType:
        if self.ddl is not None:
            return self.ddl
        if self._shape is not None:
            return spark_schema(self._shape, strict=True)  # type: ignore[no-any-return]
        return json.loads(self._schema_json or "")  # type: ignore[no-any-return]

    def read_column(self, raw: Column, columns: Columns) -> Column:
        return columns.from_json(raw, self.spark_type())

    def write_column(self, value: Column, columns: Columns, found: Any) -> Column:  # noqa: ARG002
        return columns.to_json(value)

    def misfit(self, found: Any, types: SparkTypes) -> Misfit | None:
        if not is_whole(found):
            return other_type("Json", found, "Make it a struct, for example F.struct(...)")
        return json_misfit(types.of(self), found)

    def python_record(self) -> type | None:
        return self.record

    def log_form(self, found: Any) -> str | None:
        return None if is_whole(found) else MEMBER

    def as_stored(self, found: Any | None, types: SparkTypes) -> Serde:
        form = types.of(self) if found is None else found
        return SparkJson(json.dumps(form, separators=(",", ":")), None if is_whole(form) else MEMBER)

    def describe(self) -> dict[str, Any]:
        schema = {"ddl": self.ddl} if self.ddl is not None else {"type": self._schema_json}
        return {"kind": self.kind, **schema}

    @classmethod
    def from_description(cls, found: Mapping[str, Any], *, registry: Registry | None = None) -> Serde:  # noqa: ARG003
        return cls(found["ddl"] if "ddl" in found else _SparkSchema(found["type"]))

    def key_from_text(self, text: str) -> Any:
        return self.from_parsed(from_json(text.encode(), parse_float=self.parse_float))

    def from_json_value(self, parsed: Any) -> Any:
        return self.from_parsed(parsed)

    def key_to_json(self, key: Any) -> bytes:
        return self.serialize(key) or b"null"

    def key_to_text(self, key: Any) -> str:
        return json_of(key).decode()

    def stores_json(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class _SparkSchema:
    """A schema that another process described, in the form that a StructType gives of itself."""

    text: str

    def json(self) -> str:
        return self.text


def _is_array(ddl: str | None, schema_json: str | None) -> bool:
    if ddl is not None:
        return "".join(ddl.split()).casefold().startswith("array<")
    schema = json.loads(schema_json or "null")
    return isinstance(schema, dict) and schema.get("type") == "array"


def _is_object(value: object) -> bool:
    return isinstance(value, dict) or (is_dataclass(value) and not isinstance(value, type))


def _found(schema: object) -> str:
    if isinstance(schema, str):
        return "an empty string"
    return f"the class {schema.__name__}" if isinstance(schema, type) else type(schema).__name__
