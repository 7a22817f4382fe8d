"""The serde that a Spark type gets where a program names none, and placeholders until it is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from brookmere.serde.base import Serde
from brookmere.serde.binary.numbers import Bool, Double, Int, Long
from brookmere.serde.binary.text import Bytes, Text
from brookmere.serde.columns import Column, Columns, SparkType
from brookmere.serde.json.json import Json
from brookmere.serde.structures.spark_fields import NoSchema
from brookmere.serde.structures.type_fit import type_text

_SCALARS: dict[str, Serde] = {
    "string": Text(),
    "binary": Bytes(),
    "int": Int(),
    "integer": Int(),
    "bigint": Long(),
    "long": Long(),
    "double": Double(),
    "boolean": Bool(),
}


@dataclass(frozen=True, slots=True)
class Natural(Serde):
    """A placeholder for the serde of a type that is known only when the program is compiled."""

    kind: ClassVar[str] = ""
    is_default: ClassVar[bool] = True

    def serialize(self, value: Any) -> bytes | None:
        raise TypeError(f"there is no serde yet for {type(value).__name__}; name one")

    def deserialize(self, data: bytes | None) -> Any:
        raise TypeError(f"there is no serde yet for {0 if data is None else len(data)} bytes; name one")

    def spark_type(self) -> SparkType:
        raise NoSchema("there is no serde yet")

    def read_column(self, raw: Column, columns: Columns) -> Column:  # noqa: ARG002
        raise TypeError("there is no serde yet to read with; name one")

    def write_column(self, value: Column, columns: Columns, found: Any) -> Column:  # noqa: ARG002
        raise TypeError("there is no serde yet to write with; name one")

    def settled(self, found: Any) -> Serde | None:
        return default_serde_for(type_text(found))


@dataclass(frozen=True, slots=True)
class MixedWindows(Natural):
    """A placeholder for the keys of merged streams whose windows differ, in their kind or their size.

    `session` says which kind they have in common, and is None where some are sessions and some are not.
    """

    kind: ClassVar[str] = ""

    session: bool | None


def default_serde_for(type_name: str) -> Serde | None:
    """Return the serde for a Spark type as `simpleString()` prints it, or None if it has none.

    >>> default_serde_for("bigint")
    Long()
    """
    name = type_name.strip()
    scalar = _SCALARS.get(name.casefold())
    if scalar is not None:
        return scalar
    return Json(name) if name.casefold().startswith(("struct<", "array<", "map<")) else None
