"""Compares Python's side of the border to the JVM with the classes there, by Java reflection."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import fields
from typing import Any

from brookmere.run.jvm import JavaValue, camel_case

_SIMPLE = {
    int: ("int", "long"),
    bool: ("boolean",),
    str: ("String",),
    bytes: ("byte[]",),
    type(None): ("void",),
}


def assert_same_class(jvm: Any, value: type[JavaValue]) -> None:
    """Fail by name if a dataclass and the constructor of its Scala class differ."""
    java = java_class(jvm, value.java_class)
    hints = typing.get_type_hints(value)
    wanted = [
        (camel_case(part.name), java_types(hints[part.name])) for part in fields(typing.cast(Any, value))
    ]
    found = [parameters(made) for made in java.getConstructors()]

    assert any(agrees(wanted, each) for each in found), f"{value.java_class}: {wanted} is none of {found}"


def assert_same_method(java: Any, name: str, method: Callable[..., Any]) -> None:
    """Fail by name if a method of a Protocol and the one of a Scala class differ."""
    overloads = typing.get_overloads(method) or [method]
    java_methods = [each for each in java.getMethods() if each.getName() == camel_case(name)]
    assert java_methods, f"{java.getName()} has no method {camel_case(name)}"
    assert len(java_methods) == len(overloads), name
    for each in overloads:
        hints = typing.get_type_hints(each)
        result = java_types(hints.pop("return"))
        wanted = [(camel_case(parameter), java_types(hint)) for parameter, hint in hints.items()]
        found = [parameters(java_method) for java_method in java_methods]

        assert any(agrees(wanted, one) for one in found), f"{name}: {wanted} is none of {found}"
        returned = {short(java_method.getReturnType()) for java_method in java_methods}
        assert returned <= set(result), f"{name} returns {returned}, not {result}"


def java_class(jvm: Any, name: str) -> Any:
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    return loader.loadClass(name)


def parameters(executable: Any) -> list[tuple[str, str]]:
    return [(each.getName(), short(each.getType())) for each in executable.getParameters()]


def short(java_type: Any) -> str:
    return str(java_type.getSimpleName())


def agrees(wanted: list[tuple[str, tuple[str, ...]]], found: list[tuple[str, str]]) -> bool:
    return len(wanted) == len(found) and all(
        name == java_name and java in allowed
        for (name, allowed), (java_name, java) in zip(wanted, found, strict=True)
    )


def java_types(hint: Any) -> tuple[str, ...]:
    """Return the simple names of the Java types that a type of Python stands for."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        (hint,) = (each for each in typing.get_args(hint) if each is not type(None))
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    origin = typing.get_origin(hint)
    if origin is not None:
        return {Sequence: ("List",), Mapping: ("Map",), Set: ("Set",)}[origin]
    return (hint.__name__,)
