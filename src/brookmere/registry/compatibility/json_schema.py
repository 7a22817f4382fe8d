"""Compatibility of JSON Schemas.

A reader can read what a writer wrote if its schema allows every value that the writer's schema allows. The
check knows the keywords of JSON Schema that are in common use. An unknown keyword in the reader's schema has
to appear unchanged in the writer's schema; otherwise the schemas count as incompatible.
"""

from __future__ import annotations

import json
from typing import Any

from brookmere.registry.compatibility import json_scalars
from brookmere.registry.compatibility.json_arrays import array_differences
from brookmere.registry.compatibility.json_disjoint import disjoint
from brookmere.registry.compatibility.json_objects import object_differences
from brookmere.registry.compatibility.json_values import Parts, among, types, types_named, values
from brookmere.registry.schemas.json.nodes import Node, parts

_STEPS = 5_000
# Keywords that assert something and are only compared literally.
_OPAQUE = (
    "$dynamicRef",
    "$recursiveRef",
    "contains",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "if",
    "not",
    "propertyNames",
)
_TOGETHER = {"if": ("if", "then", "else"), "contains": ("contains", "minContains", "maxContains")}
# Their meaning depends on neighbouring keywords.
_DEPENDENT = ("unevaluatedItems", "unevaluatedProperties")


def json_schema_differences(reader: Node, writer: Node) -> list[str]:
    """Return the reasons, each with the path it applies to; empty if everything can be read."""
    try:
        return Check().differences((writer,), reader, "")
    except RecursionError:
        return ["the schemas are nested too deeply to be compared"]


class Check:
    """One comparison; it gives up with a reason before it takes too long."""

    def __init__(self) -> None:
        self._steps = 0
        self._stack: list[tuple[tuple[int, ...], int]] = []
        self._depth = 0
        # Keeps trees created on the way alive, so that their identities are not reused.
        self._made: dict[tuple[int, str], tuple[Any, Any]] = {}
        self._narrow: dict[str, Any] = {}

    def deeper(self, writer: Parts, reader: Node, path: str) -> list[str]:
        """Compare parts of values: a property, or an item."""
        self._depth += 1
        try:
            return self.differences(writer, reader, path)
        finally:
            self._depth -= 1

    def differences(self, writer: Parts, reader: Node, path: str, excluded: Parts = ()) -> list[str]:
        """Return why values of all the writer's schemas and no excluded one may not fit the reader's."""
        self._steps += 1
        if self._steps > _STEPS:
            return [said(path, "the schemas are too large to be compared")]
        conjunction = self.expanded(writer)
        if conjunction is None or reader.tree is True or reader.tree == {}:
            return []
        if reader.tree is False:
            return [said(path, "no value is allowed any longer")] if types(conjunction) else []
        if any(same(part, reader) for part in (*writer, *conjunction)):
            return []
        key = tuple(id(part.tree) for part in (reader, *conjunction, *excluded))
        for before, depth in self._stack:
            if before == key:
                # Parts that fit make a whole that fits; a cycle without parts proves nothing.
                return [] if depth < self._depth else [said(path, "a reference refers back to itself")]
        self._stack.append((key, self._depth))
        try:
            return self._compare(conjunction, reader, path, excluded)
        finally:
            self._stack.pop()

    def _compare(self, writer: Parts, reader: Node, path: str, excluded: Parts) -> list[str]:
        reasons = self._words(writer, reader, path, excluded)
        if not reasons:
            return []
        # The values of a choice fit if those of each alternative do.
        for alternatives in self._choices(writer):
            if not any(
                self.differences(chosen, reader, path, (*excluded, *others))
                for chosen, others in alternatives
            ):
                return []
        return reasons

    def _choices(self, writer: Parts) -> list[list[tuple[Parts, Parts]]]:
        found: list[list[tuple[Parts, Parts]]] = []
        for part in writer:
            for word in ("oneOf", "anyOf"):
                if word not in part.tree:
                    continue
                rest = self._without(part, word)
                remaining = (*(other for other in writer if other is not part), rest)
                branches = [part.part(tree) for tree in part.tree[word]]
                found.append(
                    [
                        (
                            (*remaining, branch),
                            tuple(other for other in branches if other is not branch)
                            if word == "oneOf"
                            else (),
                        )
                        for branch in branches
                    ]
                )
        kinds = types(writer)
        known = values(writer)
        if known is not None and len(known) > 1:
            found.append([((*writer, self._narrowed(writer[0], {"const": value})), ()) for value in known])
        elif 1 < len(kinds) < 7:
            words = (["number"] if "fraction" in kinds else []) + sorted(kinds - {"fraction"})
            if "fraction" in kinds:
                words.remove("integer")
            if len(words) > 1:
                found.append([((*writer, self._narrowed(writer[0], {"type": word})), ()) for word in words])
        return found

    def expanded(self, given: Parts) -> Parts | None:
        """Return the schemas, or what they refer to, and those of their allOf; None if no value fits."""
        found: list[Node] = []
        seen: set[int] = set()
        waiting = list(given)
        while waiting:
            part = waiting.pop(0)
            if part.tree is False:
                return None
            if part.tree is True or id(part.tree) in seen:
                continue
            seen.add(id(part.tree))
            if "$ref" in part.tree:
                # Older drafts ignore keywords next to a reference; assuming less is safe in all of them.
                waiting.append(part.resolve(part.tree["$ref"]))
                continue
            waiting += [part.part(tree) for tree in part.tree.get("allOf", ())]
            found.append(self._without(part, "allOf"))
        return tuple(found) or (self._narrowed(given[0], {}),)

    def _narrowed(self, near: Node, tree: dict[str, Any]) -> Node:
        return near.part(self._narrow.setdefault(json.dumps(tree), tree))

    def _without(self, part: Node, word: str) -> Node:
        if word not in part.tree:
            return part
        # The same tree without the same keyword must stay the same object, or cycles would go unnoticed.
        key = id(part.tree), word
        if key not in self._made:
            self._made[key] = part.tree, {name: value for name, value in part.tree.items() if name != word}
        return part.part(self._made[key][1])

    def _words(self, writer: Parts, reader: Node, path: str, excluded: Parts) -> list[str]:
        tree = reader.tree
        kinds = types(writer)
        if not kinds:
            return []
        reasons: list[str] = []
        if "$ref" in tree:
            reasons += self.differences(writer, reader.resolve(tree["$ref"]), path, excluded)
        for branch in tree.get("allOf", ()):
            reasons += self.differences(writer, reader.part(branch), path, excluded)
        if "anyOf" in tree:
            reasons += self._any_of(writer, reader, path, excluded)
        if "oneOf" in tree:
            reasons += self._one_of(writer, reader, path, excluded)
        reasons += _types(writer, reader, path)
        reasons += json_scalars.scalar_differences(writer, reader, path)
        if "array" in kinds:
            reasons += array_differences(self, writer, reader, path)
        if "object" in kinds:
            reasons += object_differences(self, writer, reader, path)
        return reasons + _opaque(writer, reader, path)

    def _any_of(self, writer: Parts, reader: Node, path: str, excluded: Parts) -> list[str]:
        for tree in reader.tree["anyOf"]:
            if not self.differences(writer, reader.part(tree), path, excluded):
                return []
        return [said(path, "there are values that fit none of the alternatives of anyOf")]

    def _one_of(self, writer: Parts, reader: Node, path: str, excluded: Parts) -> list[str]:
        branches = [reader.part(tree) for tree in reader.tree["oneOf"]]
        fitting = [one for one in branches if not self.differences(writer, one, path, excluded)]
        if not fitting:
            return [said(path, "there are values that fit none of the alternatives of oneOf")]
        for chosen in fitting:
            others = [branch for branch in branches if branch is not chosen]
            if all(
                disjoint(writer, self.expanded((other,))) or any(same(other, one) for one in excluded)
                for other in others
            ):
                return []
        return [said(path, "there may be values that fit several of the alternatives of oneOf")]


def same(one: Node, other: Node) -> bool:
    """Return whether two schemas are equal, including what they refer to."""
    if json.dumps(one.tree, sort_keys=True) != json.dumps(other.tree, sort_keys=True):
        return False
    if not any(
        "$ref" in part or "$dynamicRef" in part or "$recursiveRef" in part for part in parts(one.tree)
    ):
        return True
    return bool(one.document.tree == other.document.tree and one.document.others == other.document.others)


def said(path: str, text: str) -> str:
    """Return a reason with its path."""
    return f"{path}: {text}" if path else text


def _types(writer: Parts, reader: Node, path: str) -> list[str]:
    tree = reader.tree
    reasons: list[str] = []
    if "type" in tree:
        lost = types(writer) - types_named(tree["type"])
        if lost:
            words = sorted("number" if word == "fraction" else word for word in lost)
            reasons.append(said(path, f"values of the type {', '.join(words)} are no longer allowed"))
    for word in ("enum", "const"):
        if word in tree:
            allowed = tree[word] if word == "enum" else [tree[word]]
            known = values(writer)
            lost_values = None if known is None else [value for value in known if not among(value, allowed)]
            if lost_values is None:
                reasons.append(said(path, f"only listed values are now allowed: {json.dumps(allowed)[:80]}"))
            elif lost_values:
                text = ", ".join(json.dumps(value) for value in lost_values)
                reasons.append(said(path, f"values are no longer allowed: {text[:80]}"))
    return reasons


def _opaque(writer: Parts, reader: Node, path: str) -> list[str]:
    reasons = []
    for word in _OPAQUE:
        if word not in reader.tree:
            continue
        words = _TOGETHER.get(word, (word,))
        wanted = reader.part({one: reader.tree[one] for one in words if one in reader.tree})
        given = [part.part({one: part.tree[one] for one in words if one in part.tree}) for part in writer]
        if not any(same(wanted, one) for one in given):
            reasons.append(said(path, f"'{word}' is new or changed, and its meaning is not checked"))
    reasons += [
        said(path, f"'{word}' is supported only if the whole schema stays unchanged")
        for word in _DEPENDENT
        if reader.tree.get(word, True) is not True
    ]
    return reasons
