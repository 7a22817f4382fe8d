"""Why values of one Spark type cannot be written as another. Types are in Spark's JSON form."""

from __future__ import annotations

import re
from typing import Any

from brookmere.names import nearest
from brookmere.serde.structures.spark_fields import MEMBER, WITH_DEFAULT

Misfit = tuple[str, str]
"""What is wrong, as the end of a sentence about the value, and the remedy."""

_SIMPLE = {"integer": "int", "long": "bigint", "byte": "tinyint", "short": "smallint"}
_SMALL = ("byte", "short", "integer")
_INTEGERS = (*_SMALL, "long")
_DECIMAL = re.compile(r"decimal\((\d+),(-?\d+)\)")


def type_text(form: Any) -> str:
    """Return a type as Spark shows it: its `simpleString`.

    >>> type_text({"type": "array", "elementType": "long", "containsNull": True})
    'array<bigint>'
    """
    match form:
        case str():
            return _SIMPLE.get(form, form)
        case {"type": "struct", "fields": fields}:
            members = (f"{field['name']}:{type_text(field['type'])}" for field in fields)
            return f"struct<{','.join(members)}>"
        case {"type": "array", "elementType": element}:
            return f"array<{type_text(element)}>"
        case {"type": "map", "keyType": key, "valueType": value}:
            return f"map<{type_text(key)},{type_text(value)}>"
        case _:
            return str(form["type"])


def is_whole(form: Any) -> bool:
    """Return whether values of a type are JSON by themselves: structs, arrays, maps and variants."""
    return isinstance(form, dict) or form == "variant"


def is_window(form: Any) -> bool:
    """Return whether values of a type are keys with their window."""
    return kind_of(form) == "struct" and [field["name"] for field in form["fields"]] == [
        "key",
        "start",
        "end",
    ]


def kind_of(form: Any) -> str:
    """Return "struct", "array" or "map" for types with parts, and the name of any other."""
    return str(form["type"]) if isinstance(form, dict) else str(form)


def member(form: Any, name: str) -> Any:
    """Return the type of a field of a struct."""
    return next(field["type"] for field in form["fields"] if field["name"] == name)


def other_type(serde: str, found: Any, remedy: str) -> Misfit:
    """Return the misfit of values whose type a serde does not write at all."""
    return f"has the type {type_text(found)}, which {serde} does not write", (
        f"{remedy}, or use the serde of its type"
    )


def type_misfit(serde: str, own: Any, found: Any) -> Misfit | None:
    """Return why values cannot be written where the type must be the serde's own."""
    if type_text(own) == type_text(found):
        return None
    if isinstance(found, dict) and not isinstance(own, dict):
        # Spark's cast would write its own notation, such as {C, 0, 10}, which nobody can read back.
        return other_type(serde, found, "Take one of its parts, or make it text with F.to_json(...)")
    return other_type(serde, found, f"Cast it to {type_text(own)}")


def json_misfit(schema: Any, found: Any, path: str = "") -> Misfit | None:
    """Compare as JSON does: numbers are numbers, and an object may be a struct or a map."""
    kinds = (kind_of(schema), kind_of(found))
    if kinds == ("struct", "struct"):
        return _json_fields_misfit(schema, found, path)
    if kinds == ("array", "array"):
        return json_misfit(schema["elementType"], found["elementType"], f"{path}[]")
    if kinds == ("map", "map"):
        return json_misfit(schema["valueType"], found["valueType"], f"{path}[]")
    if _json_kind(schema) == _json_kind(found) or found in ("void", "variant"):
        return None
    field = f" in {path.removeprefix('.')}" if path else ""
    what = f"has the type {type_text(found)}{field}, where the schema of Json says {type_text(schema)}"
    return what, "Cast it, or correct the schema"


def _json_fields_misfit(schema: Any, found: Any, path: str) -> Misfit | None:
    names = _names(schema)
    for field in found["fields"]:
        name = field["name"]
        if name not in names:
            return _unknown_field("the schema of Json", f"{path}.{name}", name, names)
        inner = json_misfit(member(schema, name), field["type"], f"{path}.{name}")
        if inner is not None:
            return inner
    return None


def _json_kind(form: Any) -> str:
    if form in (*_INTEGERS, "float", "double") or (isinstance(form, str) and form.startswith("decimal")):
        return "number"
    if form == "string":
        return "text"
    kind = kind_of(form)
    return "object" if kind in ("struct", "map") else kind


def _names(form: Any) -> list[str]:
    return [field["name"] for field in form["fields"]]


def _unknown_field(schema: str, path: str, name: str, known: list[str]) -> Misfit:
    close = nearest(name, known)
    what = f"has the field {path[1:]!r}, which {schema} does not name"
    return what, f"Did you mean {close!r}?" if close else "Add it to the schema, or leave it out"


class SchemaFit:
    """Compares values with the schema of Avro, Protobuf or JSON Schema that they are written by."""

    def __init__(self, serde: str, *, is_json: bool) -> None:
        self._schema_name = f"the schema of {serde}"
        self._is_json = is_json

    def misfit(self, schema: Any, found: Any, path: str = "") -> Misfit | None:
        """Return why values of the type `found` cannot be written, or None."""
        if found == "void":
            return None
        kinds = (kind_of(schema), kind_of(found))
        if kinds[0] == "struct" and any(MEMBER in field["metadata"] for field in schema["fields"]):
            return self._union(schema, found, path)
        if kinds == ("struct", "struct"):
            return self._fields(schema, found, path)
        if kinds == ("array", "array"):
            return self.misfit(schema["elementType"], found["elementType"], f"{path}[]")
        if kinds == ("map", "map"):
            keys = self.misfit(schema["keyType"], found["keyType"], f"{path}[key]")
            return keys or self.misfit(schema["valueType"], found["valueType"], f"{path}[]")
        return None if self._fits(schema, found) else self._other(schema, found, path)

    def _other(self, schema: Any, found: Any, path: str) -> Misfit:
        place = f" in {path.removeprefix('.')}" if path else ""
        what = f"has the type {type_text(found)}{place}, where {self._schema_name} says {type_text(schema)}"
        return what, "Cast it, or correct the schema"

    def _union(self, schema: Any, found: Any, path: str) -> Misfit | None:
        if kind_of(found) == "struct" and set(_names(found)) <= set(_names(schema)):
            return self._fields(schema, found, path)
        if any(self.misfit(field["type"], found, path) is None for field in schema["fields"]):
            return None
        return self._other(schema, found, path)

    def _fields(self, schema: Any, found: Any, path: str) -> Misfit | None:
        names = _names(schema)
        for field in found["fields"]:
            name = field["name"]
            if name not in names:
                return _unknown_field(self._schema_name, f"{path}.{name}", name, names)
            inner = self.misfit(member(schema, name), field["type"], f"{path}.{name}")
            if inner is not None:
                return inner
        for field in schema["fields"]:
            needed = not field["nullable"] and WITH_DEFAULT not in field["metadata"]
            if needed and field["name"] not in _names(found):
                place = f"{path}.{field['name']}"[1:]
                what = f"lacks the field {place!r}, which {self._schema_name} requires"
                return what, "Add it to the value, or give it a default or allow null in the schema"
        return None

    def _fits(self, schema: Any, found: Any) -> bool:
        is_decimal = isinstance(found, str) and found.startswith("decimal")
        if self._is_json and schema == "double":
            return found in (*_INTEGERS, "float", "double") or is_decimal
        if isinstance(schema, str) and schema.startswith("decimal"):
            return _fits_decimal(schema, found)
        if schema == "long":
            return found in _INTEGERS
        if schema == "integer":
            return found in _SMALL
        if schema == "double":
            return found in ("double", "float", *_SMALL)
        return type_text(schema) == type_text(found)


def _fits_decimal(schema: str, found: Any) -> bool:
    own = _DECIMAL.fullmatch(schema)
    other = _DECIMAL.fullmatch(found) if isinstance(found, str) else None
    if own is None:
        return bool(schema == found)
    precision, scale = map(int, own.groups())
    if other is not None:
        found_precision, found_scale = map(int, other.groups())
        return found_scale <= scale and found_precision - found_scale <= precision - scale
    # Unsigned numbers of Protobuf, which have no sign to lose.
    return (precision, scale) == (20, 0) and found in _INTEGERS
