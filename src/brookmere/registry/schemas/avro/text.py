"""The canonical text of Avro schemas."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from brookmere.registry.schemas.avro.model import (
    PRIMITIVES,
    Array,
    Enum,
    Field,
    Fixed,
    Map,
    Named,
    Primitive,
    Record,
    Type,
    Union,
)


def avro_text(type: Type, *, known: Iterable[str] = (), normalized: bool = False) -> str:
    """Return the JSON of a schema without whitespace, its attributes in a fixed order.

    Each type is defined where it is first used, except `known` ones, which are defined elsewhere. Attributes
    unknown to Avro stay in the order they were written in or, if `normalized`, are sorted.
    """
    return json.dumps(_Writer(known, normalized).tree(type, ""), separators=(",", ":"), ensure_ascii=False)


class _Writer:
    def __init__(self, known: Iterable[str], normalized: bool) -> None:
        self._normalized = normalized
        self._defined = set(known)

    def tree(self, type: Type, namespace: str) -> Any:
        if isinstance(type, Primitive):
            return {"type": type.kind, **self._sorted(type.properties)} if type.properties else type.kind
        if isinstance(type, Union):
            return [self.tree(branch, namespace) for branch in type.branches]
        if isinstance(type, Array):
            return {
                "type": "array",
                "items": self.tree(type.items, namespace),
                **self._sorted(type.properties),
            }
        if isinstance(type, Map):
            return {
                "type": "map",
                "values": self.tree(type.values, namespace),
                **self._sorted(type.properties),
            }
        if type.name in self._defined:
            space, _, simple = type.name.rpartition(".")
            return simple if space == namespace and simple not in PRIMITIVES else type.name
        return self._definition(type, namespace)

    def _definition(self, type: Named, namespace: str) -> dict[str, Any]:
        self._defined.add(type.name)
        space, _, simple = type.name.rpartition(".")
        kind = type.kind if isinstance(type, Record) else "enum" if isinstance(type, Enum) else "fixed"
        written: dict[str, Any] = {"type": kind, "name": simple}
        if space != namespace:
            written["namespace"] = space
        if type.doc is not None:
            written["doc"] = type.doc
        if isinstance(type, Record):
            written["fields"] = [self._field(field, space) for field in type.fields]
        elif isinstance(type, Enum):
            written["symbols"] = list(type.symbols)
            if type.default is not None:
                written["default"] = type.default
        elif isinstance(type, Fixed):
            written["size"] = type.size
        written.update(self._sorted(type.properties))
        if type.aliases:
            written["aliases"] = [_relative(alias, space) for alias in type.aliases]
        return written

    def _field(self, field: Field, namespace: str) -> dict[str, Any]:
        written: dict[str, Any] = {"name": field.name, "type": self.tree(field.type, namespace)}
        if field.doc is not None:
            written["doc"] = field.doc
        if field.has_default:
            written["default"] = field.default
        if field.order != "ascending":
            written["order"] = field.order
        if field.aliases:
            written["aliases"] = list(field.aliases)
        return {**written, **self._sorted(field.properties)}

    def _sorted(self, properties: Mapping[str, Any]) -> Mapping[str, Any]:
        return dict(sorted(properties.items())) if self._normalized else properties


def _relative(name: str, namespace: str) -> str:
    space, _, simple = name.rpartition(".")
    return simple if space == namespace else name
