"""Turns the name of a Spark type into the serde that a sink uses when the program names none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from brookmere.serde.base import Serde
from brookmere.serde.binary.numbers import Bool, Double, Int, Long
from brookmere.serde.binary.text import Bytes, Text
from brookmere.serde.json.json import Json

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
    """Stands for the serde of a type that is known only when the program is compiled."""

    kind: ClassVar[str] = "natural"

    def serialize(self, value: Any) -> bytes | None:
        raise TypeError(f"there is no serde yet for {type(value).__name__}; name one")

    def deserialize(self, data: bytes | None) -> Any:
        raise TypeError(f"there is no serde yet for {0 if data is None else len(data)} bytes; name one")


def default_serde_for(type_name: str) -> Serde | None:
    """Return the serde for a Spark type as `simpleString()` prints it, or None where there is no natural one.

    >>> default_serde_for("bigint")
    Long()
    """
    name = type_name.strip()
    scalar = _SCALARS.get(name.casefold())
    if scalar is not None:
        return scalar
    return Json(name) if name.casefold().startswith(("struct<", "array<", "map<")) else None
