"""Parses Avro schemas into types with resolved names."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from brookmere.registry.schemas.avro.defaults import fits
from brookmere.registry.schemas.avro.model import (
    NO_DEFAULT,
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
    kind_of,
)

_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_ORDERS = ("ascending", "descending", "ignore")
_NAMED = ("record", "error", "enum", "fixed")
_OWN_WORDS = {
    "record": {"type", "name", "namespace", "aliases", "doc", "fields"},
    "error": {"type", "name", "namespace", "aliases", "doc", "fields"},
    "enum": {"type", "name", "namespace", "aliases", "doc", "symbols", "default"},
    "fixed": {"type", "name", "namespace", "aliases", "doc", "size"},
    "array": {"type", "items"},
    "map": {"type", "values"},
    "field": {"name", "type", "aliases", "doc", "default", "order"},
}


class AvroSchemaError(ValueError):
    """A text is not a valid Avro schema; the message says why and where."""


def parse_avro(text: str, named: dict[str, Named] | None = None) -> Type:
    """Parse an Avro schema. `named` holds types it may use by name, and receives those it defines.

    >>> parse_avro('["null", "string"]').branches[1].kind
    'string'
    """
    try:
        tree = json.loads(text)
    except ValueError as problem:
        # The name of a primitive is a schema even without quotes.
        if text.strip() not in PRIMITIVES:
            raise AvroSchemaError(f"it is not valid JSON: {problem}") from problem
        tree = text.strip()
    return _Parser({} if named is None else named).type(tree, "", "the schema")


class _Parser:
    def __init__(self, named: dict[str, Named]) -> None:
        self._named = named

    def type(self, tree: Any, namespace: str, place: str) -> Type:
        if isinstance(tree, str):
            return self._by_name(tree, namespace, place)
        if isinstance(tree, list):
            return self._union(tree, namespace, place)
        if not isinstance(tree, dict):
            raise AvroSchemaError(f"{place}: expected a type, found {json.dumps(tree)}")
        if "type" not in tree:
            raise AvroSchemaError(f"{place}: a type without 'type', found {_excerpt(tree)}")
        kind = tree["type"]
        if not isinstance(kind, str):
            # {"type": {"type": "int"}} is the inner type.
            return self.type(kind, namespace, place)
        if kind in PRIMITIVES:
            return Primitive(kind, _others(tree, {"type"}))
        if kind == "array":
            return Array(self.type(_part(tree, "items", place), namespace, f"{place}[]"), _rest(tree, kind))
        if kind == "map":
            return Map(self.type(_part(tree, "values", place), namespace, f"{place}{{}}"), _rest(tree, kind))
        if kind in _NAMED:
            return self._define(tree, kind, namespace, place)
        return self._by_name(kind, namespace, place)

    def _by_name(self, name: str, namespace: str, place: str) -> Type:
        if name in PRIMITIVES:
            return Primitive(name, {})
        for full in [name] if "." in name else [_join(namespace, name), name]:
            if full in self._named:
                return self._named[full]
        raise AvroSchemaError(f"{place}: the type '{name}' is not defined")

    def _union(self, tree: list[Any], namespace: str, place: str) -> Union:
        branches = tuple(self.type(branch, namespace, place) for branch in tree)
        seen: set[str] = set()
        for branch in branches:
            if isinstance(branch, Union):
                raise AvroSchemaError(f"{place}: a union directly contains another union")
            word = branch.name if isinstance(branch, Record | Enum | Fixed) else kind_of(branch)
            if word in seen:
                raise AvroSchemaError(f"{place}: '{word}' appears twice in a union")
            seen.add(word)
        return Union(branches)

    def _define(self, tree: dict[str, Any], kind: str, namespace: str, place: str) -> Named:
        name = _full_name(tree, namespace, place)
        own = name.rpartition(".")[0]
        if name in self._named:
            raise AvroSchemaError(f"{place}: the type '{name}' is defined twice")
        aliases = tuple(
            alias if "." in alias else _join(own, alias) for alias in _words(tree, "aliases", place)
        )
        doc = tree.get("doc") if isinstance(tree.get("doc"), str) else None
        head = (name, aliases, doc, _rest(tree, kind))
        made: Named
        if kind == "enum":
            made = _enum(Enum(*head), tree, name)
        elif kind == "fixed":
            made = _fixed(Fixed(*head), tree, name)
        else:
            made = Record(*head, kind=kind)
        self._named[name] = made
        if isinstance(made, Record):
            self._add_fields(made, tree, own)
        return made

    def _add_fields(self, record: Record, tree: dict[str, Any], namespace: str) -> None:
        listed = tree.get("fields")
        if not isinstance(listed, list):
            raise AvroSchemaError(f"record {record.name}: 'fields' must be a list")
        names: set[str] = set()
        for one in listed:
            if not isinstance(one, dict) or not _is_word(one.get("name")):
                raise AvroSchemaError(
                    f"record {record.name}: expected a field with a name, found {_excerpt(one)}"
                )
            place = f"{record.name}.{one['name']}"
            if one["name"] in names:
                raise AvroSchemaError(f"{place}: two fields have this name")
            names.add(one["name"])
            record.fields.append(self._field(one, namespace, place))
        # A default may need a type that is complete only now.
        for field in record.fields:
            if field.has_default and not fits(field.default, field.type):
                raise AvroSchemaError(
                    f"{record.name}.{field.name}: the default {_excerpt(field.default)} does not fit its type"
                )

    def _field(self, tree: dict[str, Any], namespace: str, place: str) -> Field:
        order = tree.get("order", "ascending")
        if order not in _ORDERS:
            raise AvroSchemaError(
                f"{place}: the order must be one of {', '.join(_ORDERS)}, found {json.dumps(order)}"
            )
        return Field(
            tree["name"],
            self.type(_part(tree, "type", place), namespace, place),
            tuple(_words(tree, "aliases", place)),
            tree.get("doc") if isinstance(tree.get("doc"), str) else None,
            tree.get("default", NO_DEFAULT),
            order,
            _rest(tree, "field"),
        )


def _enum(enum: Enum, tree: dict[str, Any], name: str) -> Enum:
    symbols = _words(tree, "symbols", name)
    if "symbols" not in tree or len(set(symbols)) != len(symbols) or not all(map(_is_word, symbols)):
        raise AvroSchemaError(f"enum {name}: 'symbols' must be a list of distinct names")
    enum.symbols = tuple(symbols)
    enum.default = tree.get("default")
    if enum.default is not None and enum.default not in enum.symbols:
        raise AvroSchemaError(
            f"enum {name}: the default {json.dumps(enum.default)} is not one of its symbols"
        )
    return enum


def _fixed(fixed: Fixed, tree: dict[str, Any], name: str) -> Fixed:
    size = tree.get("size")
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise AvroSchemaError(f"fixed {name}: 'size' must be a number of bytes, found {json.dumps(size)}")
    fixed.size = size
    return fixed


def _full_name(tree: Mapping[str, Any], namespace: str, place: str) -> str:
    name, own = tree.get("name"), tree.get("namespace")
    if isinstance(name, str) and "." not in name:
        name = _join(own if isinstance(own, str) else namespace, name)
    if not isinstance(name, str) or not all(
        _WORD.fullmatch(part) for part in name.removeprefix(".").split(".")
    ):
        raise AvroSchemaError(f"{place}: expected a name of letters, digits and _, found {json.dumps(name)}")
    name = name.removeprefix(".")
    if name in PRIMITIVES:
        raise AvroSchemaError(f"{place}: '{name}' is the name of a primitive type")
    return name


def _words(tree: Mapping[str, Any], key: str, place: str) -> list[str]:
    listed = tree.get(key, [])
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise AvroSchemaError(f"{place}: '{key}' must be a list of names, found {_excerpt(listed)}")
    return listed


def _part(tree: Mapping[str, Any], key: str, place: str) -> Any:
    if key not in tree:
        raise AvroSchemaError(f"{place}: '{key}' is missing in {_excerpt(tree)}")
    return tree[key]


def _rest(tree: Mapping[str, Any], kind: str) -> dict[str, Any]:
    return _others(tree, _OWN_WORDS[kind])


def _others(tree: Mapping[str, Any], own: set[str]) -> dict[str, Any]:
    return {key: content for key, content in tree.items() if key not in own}


def _join(namespace: str, name: str) -> str:
    return f"{namespace}.{name}" if namespace else name


def _is_word(name: Any) -> bool:
    return isinstance(name, str) and _WORD.fullmatch(name) is not None


def _excerpt(tree: Any) -> str:
    text = json.dumps(tree)
    return text if len(text) <= 80 else f"{text[:77]}..."
