"""Makes Avro schemas, data for them, and later versions of them."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
SYMBOLS = ("A", "B", "C", "D")
DEFAULTS: dict[str, Any] = {
    "null": None,
    "boolean": True,
    "int": 1,
    "long": 2,
    "float": 1.5,
    "double": 2.5,
    "bytes": "x",
    "string": "y",
}


class Making:
    """Chooses by a seed, many times faster than by draws, and gives each named type a name of its own."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.names = 0

    def one_of(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def number(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def name(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"

    def schema(self, depth: int) -> Any:
        kinds = ["primitive", "enum", "fixed"]
        if depth > 0:
            kinds += ["record", "record", "array", "map", "union"]
        kind = self.one_of(*kinds)
        if kind == "primitive":
            return self.one_of(*PRIMITIVES)
        if kind == "enum":
            count = self.number(1, 4)
            return {"type": "enum", "name": self.name("E"), "symbols": list(SYMBOLS[:count])}
        if kind == "fixed":
            return {"type": "fixed", "name": self.name("F"), "size": self.one_of(1, 2)}
        if kind == "array":
            return {"type": "array", "items": self.schema(depth - 1)}
        if kind == "map":
            return {"type": "map", "values": self.schema(depth - 1)}
        if kind == "union":
            return self.union(depth)
        return self.record(depth)

    def record(self, depth: int) -> Any:
        fields = [
            {"name": f"f{number}", "type": self.schema(depth - 1)} for number in range(self.number(0, 3))
        ]
        return {"type": "record", "name": self.name("R"), "fields": fields}

    def union(self, depth: int) -> Any:
        branches: dict[str, Any] = {}
        for _ in range(self.number(1, 3)):
            branch = self.schema(depth - 1)
            if not isinstance(branch, list):
                branches[word(branch)] = branch
        return list(branches.values()) or ["null"]

    def changed(self, schema: Any) -> Any:
        """Return a later version of a schema, sometimes one that fits."""
        if self.chance(5):
            return self.schema(1)
        if isinstance(schema, list):
            return self._changed_union(schema)
        if self.chance(8):
            others = [one for one in PRIMITIVES if one != word(schema)]
            branches = [schema, self.one_of(*others)]
            return branches if self.chance(50) else branches[::-1]
        if isinstance(schema, str):
            return self.one_of(*PRIMITIVES) if self.chance(25) else schema
        kind = schema["type"]
        if kind == "array":
            return {**schema, "items": self.changed(schema["items"])}
        if kind == "map":
            return {**schema, "values": self.changed(schema["values"])}
        return self._changed_named(schema, kind)

    def _changed_union(self, schema: list[Any]) -> Any:
        branches: dict[str, Any] = {}
        for branch in schema:
            other = self.changed(branch)
            if self.chance(95) and not isinstance(other, list):
                branches.setdefault(word(other), other)
        listed = list(branches.values()) or ["null"]
        return listed[0] if len(listed) == 1 and self.chance(30) else listed

    def _changed_named(self, schema: Any, kind: str) -> Any:
        changed = copy.deepcopy(schema)
        if self.chance(10):
            changed["name"] = self.name("N")
            if self.chance(80):
                changed["aliases"] = [schema["name"]]
        if kind == "fixed":
            changed["size"] = schema["size"] if self.chance(90) else 3
        elif kind == "enum":
            count = self.number(1, 4)
            changed["symbols"] = list(SYMBOLS[:count])
            if self.chance(30):
                changed["default"] = "A"
        else:
            changed["fields"] = self._changed_fields(schema["fields"])
        return changed

    def _changed_fields(self, fields: list[Any]) -> list[Any]:
        changed = []
        for field in fields:
            if self.chance(10):
                continue
            other = {**field, "type": self.changed(field["type"])}
            if other["type"] != field["type"]:
                other.pop("default", None)
            if self.chance(10):
                other["name"] = self.name("g")
                if self.chance(80):
                    other["aliases"] = [field["name"]]
            changed.append(other)
        if self.chance(30):
            kind = self.one_of(*PRIMITIVES)
            added: dict[str, Any] = {"name": self.name("h"), "type": kind}
            if self.chance(80):
                added["default"] = DEFAULTS[kind]
            changed.insert(self.number(0, len(changed)), added)
        return changed

    def value(self, schema: Any) -> Any:
        """Return data of a schema."""
        if isinstance(schema, list):
            return self.value(self.one_of(*schema))
        if isinstance(schema, str):
            return self.one_of(*VALUES[schema])
        kind = schema["type"]
        if kind == "enum":
            return self.one_of(*schema["symbols"])
        if kind == "fixed":
            return b"z" * schema["size"]
        count = self.number(0, 2)
        if kind == "array":
            return [self.value(schema["items"]) for _ in range(count)]
        if kind == "map":
            return {f"k{number}": self.value(schema["values"]) for number in range(count)}
        return {field["name"]: self.value(field["type"]) for field in schema["fields"]}


VALUES: dict[str, tuple[Any, ...]] = {
    "null": (None,),
    "boolean": (True, False),
    "int": (-(2**31), -1, 0, 2**31 - 1),
    "long": (-(2**63), 0, 5, 2**63 - 1),
    "float": (0.0, -1.5, float("inf")),
    "double": (0.1, -(2.0**70)),
    # Avro lets any bytes be read as a string; whether they are one shows only then.
    "bytes": (b"", b"a", "é".encode()),
    "string": ("", "b", "ö"),
}


def word(schema: Any) -> str:
    """Return what a union may have only once."""
    if isinstance(schema, str):
        return schema
    return str(schema.get("name", schema["type"]))


def versions(seed: int) -> tuple[Any, Any, list[Any]]:
    """Give a writer's schema, a reader's schema and data of the writer."""
    making = Making(seed)
    writer = making.schema(3)
    reader = writer
    for _ in range(making.number(1, 2)):
        reader = making.changed(reader)
    return writer, reader, [making.value(writer) for _ in range(3)]
