"""Compatibility of Avro schemas, by Avro's rules of schema resolution."""

from __future__ import annotations

from brookmere.registry.schemas.avro.model import (
    Array,
    Enum,
    Fixed,
    Map,
    Primitive,
    Record,
    Type,
    Union,
    shown,
    simple_name,
)

_PROMOTIONS = {
    "int": ("long", "float", "double"),
    "long": ("float", "double"),
    "float": ("double",),
    "string": ("bytes",),
    "bytes": ("string",),
}


def avro_differences(reader: Type, writer: Type) -> list[str]:
    """Return the reasons, each with the path it applies to; empty if everything can be read."""
    return _Check().differences(reader, writer, "")


class _Check:
    def __init__(self) -> None:
        # Recursive types are compared once; a pair under comparison counts as compatible.
        self._compared: set[tuple[int, int]] = set()

    def differences(self, reader: Type, writer: Type, path: str) -> list[str]:
        pair = (id(reader), id(writer))
        if pair in self._compared:
            return []
        self._compared.add(pair)
        if isinstance(writer, Union):
            return [reason for branch in writer.branches for reason in self.differences(reader, branch, path)]
        if isinstance(reader, Union):
            return self._in_union(reader, writer, path)
        if not matches(reader, writer):
            return [_said(path, f"{shown(writer)} cannot be read as {shown(reader)}")]
        return self._inside(reader, writer, path)

    def _in_union(self, reader: Union, writer: Type, path: str) -> list[str]:
        fitting = [branch for branch in reader.branches if matches(branch, writer)]
        if not fitting:
            return [_said(path, f"{shown(writer)} is not in the {shown(reader)}")]
        # The specification uses the first branch that matches; some readers prefer the same full name.
        chosen = fitting[:1] + [
            branch for branch in fitting[1:] if isinstance(branch, Record) and branch.name == _name(writer)
        ]
        return [reason for branch in chosen for reason in self.differences(branch, writer, path)]

    def _inside(self, reader: Type, writer: Type, path: str) -> list[str]:
        if isinstance(reader, Record) and isinstance(writer, Record):
            return self._records(reader, writer, path)
        if isinstance(reader, Array) and isinstance(writer, Array):
            return self.differences(reader.items, writer.items, f"{path}[]")
        if isinstance(reader, Map) and isinstance(writer, Map):
            return self.differences(reader.values, writer.values, f"{path}{{}}")
        if isinstance(reader, Enum) and isinstance(writer, Enum) and reader.default is None:
            missing = [symbol for symbol in writer.symbols if symbol not in reader.symbols]
            if missing:
                text = f"{shown(reader)} has no {', '.join(missing)} and no default for unknown symbols"
                return [_said(path, text)]
        return _decimals(reader, writer, path)

    def _records(self, reader: Record, writer: Record, path: str) -> list[str]:
        reasons: list[str] = []
        inside = f"{path}." if path else f"{simple_name(reader.name)}."
        taken: dict[str, str] = {}
        for field in reader.fields:
            place = f"{inside}{field.name}"
            written = [one for one in writer.fields if one.name in (field.name, *field.aliases)]
            if len(written) > 1 or (written and written[0].name in taken):
                reasons.append(_said(place, "its aliases match several fields, which is ambiguous"))
            elif written:
                taken[written[0].name] = field.name
                reasons += self.differences(field.type, written[0].type, place)
            elif not field.has_default:
                reasons.append(_said(place, "the field has no default and is not in the data"))
        return reasons


def matches(reader: Type, writer: Type) -> bool:
    """Return whether two types match, before comparing the fields of records."""
    if isinstance(reader, Union) or isinstance(writer, Union):
        return True
    if isinstance(reader, Primitive) and isinstance(writer, Primitive):
        return reader.kind == writer.kind or reader.kind in _PROMOTIONS.get(writer.kind, ())
    if isinstance(reader, Array) and isinstance(writer, Array):
        return matches(reader.items, writer.items)
    if isinstance(reader, Map) and isinstance(writer, Map):
        return matches(reader.values, writer.values)
    if isinstance(reader, Fixed) and isinstance(writer, Fixed):
        return reader.size == writer.size and _same_name(reader, writer)
    if isinstance(reader, Record) and isinstance(writer, Record):
        return _same_name(reader, writer)
    if isinstance(reader, Enum) and isinstance(writer, Enum):
        return _same_name(reader, writer)
    return False


def _same_name(reader: Record | Enum | Fixed, writer: Record | Enum | Fixed) -> bool:
    return simple_name(reader.name) == simple_name(writer.name) or writer.name in reader.aliases


def _name(type: Type) -> str | None:
    return type.name if isinstance(type, Record | Enum | Fixed) else None


def _decimals(reader: Type, writer: Type, path: str) -> list[str]:
    if not isinstance(reader, Primitive | Fixed) or not isinstance(writer, Primitive | Fixed):
        return []
    ours, theirs = reader.properties, writer.properties
    if ours.get("logicalType") != "decimal" or theirs.get("logicalType") != "decimal":
        return []
    if ours.get("scale", 0) == theirs.get("scale", 0) and ours.get("precision") == theirs.get("precision"):
        return []
    return [_said(path, "decimals of a different precision or scale cannot be read")]


def _said(path: str, text: str) -> str:
    return f"{path}: {text}" if path else text
