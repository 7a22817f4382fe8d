"""Converts what user code returns to the form of the wire, and rejects what does not fit the type.

Every value is converted here: the channel itself would write the number of another library as
bytes. A struct leaves as the tuple of its fields.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from typing import Any

from brookmere.worker.protocol.stage_code import TypeCode
from brookmere.worker.types.scalars import Send, scalar_sender, unfit


def writer(code: TypeCode | None, what: str = "value") -> Send | None:
    """Return what checks and converts a value that leaves; None for values of no known type.

    `what` names the value in messages.
    """
    if code is None:
        return None
    return _pickled if code.is_pickled else _sender(json.loads(code.json), what)


def _sender(kind: Any, what: str) -> Send:
    if not isinstance(kind, dict):
        return scalar_sender(kind, what)
    match kind["type"]:
        case "struct":
            return _struct(kind, what)
        case "array":
            return _array(_sender(kind["elementType"], f"an element of {what}"), what)
        case "map":
            return _map(kind, what)
    raise ValueError(f"{what} has a type that cannot leave Python code: {kind['type']}")


def _struct(kind: dict[str, Any], what: str) -> Send:
    members = [(m["name"], _sender(m["type"], f"{what}.{m['name']}")) for m in kind["fields"]]
    sends = [send for _, send in members]
    names = frozenset(name for name, _ in members)
    fitting: set[type] = set()

    def send(value: Any) -> Any:
        if type(value) is dict or isinstance(value, Mapping):
            if not value.keys() <= names:
                raise _strange(what, value, names)
            get = value.get
            return tuple([send(get(name)) for name, send in members])
        if value is None:
            return None
        if is_dataclass(value) and not isinstance(value, type):
            if type(value) not in fitting:
                own = [member.name for member in fields(value)]
                if not names.issuperset(own):
                    raise _strange(what, own, names)
                fitting.add(type(value))
            return tuple([send(getattr(value, name, None)) for name, send in members])
        if isinstance(value, tuple | list) and len(value) == len(sends):
            return tuple([send(part) for send, part in zip(sends, value, strict=True)])
        expected = f"a dict or dataclass with {', '.join(name for name, _ in members)}"
        raise unfit(what, expected, value, "return one of these, or change returns=")

    return send


def _strange(what: str, value: Iterable[object], names: frozenset[str]) -> TypeError:
    unknown = sorted(str(name) for name in value if name not in names)
    near = get_close_matches(unknown[0], names, 1)
    remedy = f"did you mean {near[0]!r}?" if near else "leave it out, or add it to returns="
    return TypeError(f"{what} has no field {unknown[0]!r}; {remedy}")


def _array(element: Send, what: str) -> Send:
    def send(value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            if not hasattr(value, "tolist") or getattr(value, "ndim", 0) == 0:
                raise unfit(what, "a list", value)
            value = value.tolist()
        return [element(item) for item in value]

    return send


def _map(kind: dict[str, Any], what: str) -> Send:
    key = _sender(kind["keyType"], f"a key of {what}")
    member = _sender(kind["valueType"], f"a value of {what}")
    in_pairs = isinstance(kind["keyType"], dict)

    def send(value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise unfit(what, "a dict", value)
        if None in value:
            raise ValueError(f"{what} has the key None; leave it out, a map has no such key")
        pairs = [(key(k), member(v)) for k, v in value.items()]
        return pairs if in_pairs else dict(pairs)

    return send


def _pickled(value: Any) -> Any:
    return None if value is None else pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
