"""References in JSON Schemas, within and across documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urljoin


class JsonSchemaError(ValueError):
    """A text is not a valid JSON Schema; the message says why and where."""


@dataclass(frozen=True, eq=False, slots=True)
class Document:
    """A whole schema and, by name, the others it may refer to."""

    tree: Any
    others: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The id that the schema declares, or an empty string."""
        own = self.tree.get("$id", self.tree.get("id", "")) if isinstance(self.tree, dict) else ""
        return own.removesuffix("#") if isinstance(own, str) else ""


@dataclass(frozen=True, eq=False, slots=True)
class Node:
    """A part of a schema, and the document it belongs to."""

    tree: Any
    document: Document

    def part(self, tree: Any) -> Node:
        """Return a part of this part."""
        return Node(tree, self.document)

    def resolve(self, reference: str) -> Node:
        """Return the target of a reference."""
        place, _, fragment = reference.partition("#")
        document = self._document(place)
        if not fragment:
            return Node(document.tree, document)
        if fragment.startswith("/"):
            return Node(_pointed(document.tree, unquote(fragment), reference), document)
        for part in parts(document.tree):
            if (
                fragment in (part.get("$anchor"), part.get("$dynamicAnchor"))
                or part.get("$id") == f"#{fragment}"
            ):
                return Node(part, document)
        raise JsonSchemaError(f"the reference '{reference}' has no target")

    def _document(self, place: str) -> Document:
        own = self.document
        if not place or urljoin(own.id, place) == own.id:
            return own
        for name in (place, urljoin(own.id, place)):
            if name in own.others:
                return Document(own.others[name], own.others)
        for part in parts(own.tree):
            given = part.get("$id")
            if isinstance(given, str) and urljoin(own.id, given) == urljoin(own.id, place):
                return Document(part, own.others)
        raise JsonSchemaError(f"the reference '{place}' is unknown: add it to the references of the schema")


def parts(tree: Any) -> Iterator[dict[str, Any]]:
    """Yield all JSON objects in a tree."""
    if isinstance(tree, dict):
        yield tree
        for content in tree.values():
            yield from parts(content)
    elif isinstance(tree, list):
        for content in tree:
            yield from parts(content)


def _pointed(tree: Any, pointer: str, reference: str) -> Any:
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(tree, dict) and key in tree:
            tree = tree[key]
        elif isinstance(tree, list) and key.isdecimal() and int(key) < len(tree):
            tree = tree[int(key)]
        else:
            raise JsonSchemaError(f"the reference '{reference}' has no target")
    return tree
