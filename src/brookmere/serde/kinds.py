"""The one registry of serdes, by kind; and how a serde is described to another process and made there."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from brookmere.errors import UnsupportedError
from brookmere.names import nearest

if TYPE_CHECKING:
    from brookmere.serde.base import Serde
    from brookmere.serde.registered import Registry

_HOMES = {
    "text": "brookmere.serde.binary.text",
    "bytes": "brookmere.serde.binary.text",
    "int": "brookmere.serde.binary.numbers",
    "long": "brookmere.serde.binary.numbers",
    "double": "brookmere.serde.binary.numbers",
    "bool": "brookmere.serde.binary.numbers",
    "pickled": "brookmere.serde.binary.pickled",
    "json": "brookmere.serde.json.json",
    "typed_json": "brookmere.serde.json.spark_json",
    "json_schema": "brookmere.serde.json.json_schema",
    "avro": "brookmere.serde.avro.avro",
    "protobuf": "brookmere.serde.protobuf.protobuf",
    "windowed": "brookmere.serde.windowed",
    "custom": "brookmere.serde.custom",
}
"""The modules of the built-in kinds: they are imported when they are asked for, since some take long."""

_classes: dict[str, type[Serde]] = {}


def register(cls: type[Serde]) -> None:
    """Make a class known by its kind; `Serde` does it for every subclass.

    Raises:
        TypeError: the kind belongs to another class.
    """
    if "kind" not in vars(cls):
        cls.kind = path_of(cls)
    kind = cls.kind
    if not kind:
        # A placeholder for a serde that is not known yet.
        return
    known = _classes.get(kind)
    home = _HOMES.get(kind, cls.__module__)
    if home != cls.__module__ or (known is not None and path_of(known) != path_of(cls)):
        owner = home if known is None else path_of(known)
        raise TypeError(f"the kind {kind!r} of the serde {path_of(cls)} belongs to {owner}; choose another")
    _classes[kind] = cls


def all_kinds() -> dict[str, type[Serde]]:
    """Return the classes of all serdes by kind: the built-in ones, and those that were defined elsewhere."""
    for home in _HOMES.values():
        importlib.import_module(home)
    return {kind: cls for kind, cls in _classes.items() if not inspect.isabstract(cls)}


def class_of(kind: str) -> type[Serde]:
    """Return the class of a kind; `module:Name` is imported if need be.

    Raises:
        UnsupportedError: there is no such serde.
    """
    if kind in _HOMES:
        importlib.import_module(_HOMES[kind])
    if kind in _classes:
        return _classes[kind]
    if ":" in kind:
        return _class_at(kind)
    close = nearest(kind, [*_HOMES, *_classes])
    hint = f"Did you mean {close!r}?" if close else "A newer version of Brookmere may know it."
    raise UnsupportedError(f"There is no serde of the kind {kind!r}. {hint}")


def path_of(cls: type) -> str:
    """Return where a class is imported from: `module:Name`."""
    return f"{cls.__module__}:{cls.__qualname__}"


def imported(path: str) -> Any:
    """Return what `module:Name` names: a class or a value.

    Raises:
        UnsupportedError: it cannot be imported.
    """
    module, _, name = path.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise UnsupportedError(
            f"The serde {path!r} cannot be imported. Found: {error}. "
            "Install the module that defines it here, or put its folder on PYTHONPATH."
        ) from error
    return found


def describe_serde(serde: Serde) -> dict[str, Any]:
    """Return a serde as a JSON object.

    A dataclass or a generated class becomes its schema: who reads with it gets dicts. Passwords of a registry
    are left out, unless they are references such as `${env:NAME}`.

    Raises:
        UnsupportedError: another process could not make it, since it has functions of the program.

    >>> from brookmere.serde import Text, Windowed
    >>> describe_serde(Windowed(Text(), session=True))
    {'kind': 'windowed', 'inner': {'kind': 'text'}, 'size_ms': None, 'session': True, 'form': 'binary'}
    """
    return serde.describe()


def read_serde(found: Mapping[str, Any], *, registry: Registry | None = None) -> Serde:
    """Return the serde of a description. `registry` knows the login where it is the one that is meant.

    Raises:
        UnsupportedError: there is no such serde, or it cannot be imported here.
    """
    cls = _class_at(found["class"]) if "class" in found else class_of(found["kind"])
    return cls.from_description(found, registry=registry)


def describe_class(serde: Serde) -> dict[str, Any]:
    """Describe a serde by its kind, its class and its parameters; a built-in kind needs no class."""
    cls = type(serde)
    described: dict[str, Any] = {"kind": serde.kind}
    if serde.kind not in _HOMES:
        _check_importable(cls)
        described["class"] = path_of(cls)
    parameters = {name: _plain(cls, name, value) for name, value in serde.parameters().items()}
    return described | ({"parameters": parameters} if parameters else {})


def fields_of(serde: Serde) -> dict[str, Any]:
    """Return the values of the fields that a dataclass is made with."""
    found: Any = serde
    return {p.name: getattr(found, p.name) for p in fields(found) if p.init} if is_dataclass(found) else {}


def read_parameters(found: Mapping[str, Any], *, registry: Registry | None = None) -> dict[str, Any]:
    """Return parameters with the serdes among them made."""
    return {
        name: read_serde(value["serde"], registry=registry) if _is_serde(value) else value
        for name, value in found.items()
    }


def _is_serde(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"serde"}


def _plain(cls: type, name: str, value: Any) -> Any:
    from brookmere.serde.base import Serde

    if isinstance(value, Serde):
        return {"serde": value.describe()}
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, list | tuple):
        return [_plain(cls, name, item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(cls, name, item) for key, item in value.items()}
    raise UnsupportedError(
        f"The serde {cls.__name__!r} cannot be described as JSON. Found: {name} is a {type(value).__name__}. "
        "Override parameters(), and return what the class can be called with."
    )


def _check_importable(cls: type) -> None:
    found: Any = sys.modules.get(cls.__module__)
    for part in cls.__qualname__.split("."):
        found = getattr(found, part, None)
    if cls.__module__ == "__main__" or found is not cls:
        raise UnsupportedError(
            f"The serde {cls.__name__!r} cannot be described as JSON. "
            f"Found: {path_of(cls)}, which other processes cannot import. "
            "Define it at the top level of a module of its own."
        )


def _class_at(path: str) -> type[Serde]:
    from brookmere.serde.base import Serde

    found = imported(path)
    if not isinstance(found, type) or not issubclass(found, Serde):
        raise UnsupportedError(f"{path!r} is not a serde. Found: {found!r}. Give the path of a class.")
    return found
