"""Turns the name of a Spark type into the serde that a sink uses when the program names none."""

from __future__ import annotations

from brookmere.serde.base import Serde
from brookmere.serde.json import Json
from brookmere.serde.primitive import Bool, Double, Int, Long
from brookmere.serde.text import Bytes, Text

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
