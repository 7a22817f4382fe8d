"""What a program says of a type (DDL, a Spark type, a Python type, a serde), as a type of both sides."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql.types import DataType, _parse_datatype_json_string, _parse_datatype_json_value

from brookmere.errors import ExpressionError, Fault
from brookmere.run.wire.fit import is_window
from brookmere.run.wire.types import data_type_of
from brookmere.serde import Serde
from brookmere.serde.structures.dataclass_shapes import slot_of, spark_schema, type_name
from brookmere.topology.function import Location
from brookmere.topology.python_code import PythonFunction
from brookmere.worker.protocol.stage_code import TypeCode
from brookmere.worker.types.annotations import resolved

_KNOWN = (
    'a DDL string such as "string" or "id bigint, name string", a Spark type, a Python type (str, int, '
    "float, bool, bytes, date, datetime, Decimal, list[T], dict[str, T]), a dataclass or a serde"
)
_ITERABLES = {Iterable, Iterator, list, tuple, set, frozenset, typing.get_origin(typing.Generator)}

SerdeType = Callable[[Serde], DataType]
"""Returns the type that a serde reads."""


def typed(spec: object, role: str, where: Location | None, serde_type: SerdeType) -> TypeCode:
    """Return the type that `spec` stands for; `role` says of what, for example "value of process"."""
    if isinstance(spec, TypeCode):
        return spec
    if isinstance(spec, str):
        return TypeCode(_from_ddl(spec, role, where).json())
    if isinstance(spec, DataType):
        return TypeCode(spec.json())
    if isinstance(spec, type) and issubclass(spec, Serde) and spec.is_pickled:
        spec = spec()
    if isinstance(spec, Serde):
        return _of_serde(spec, serde_type)
    slot = slot_of(spec)
    if slot is None:
        raise _refused(
            f"The type of the {role} is not known: found {type_name(spec)}", where, f"Give {_KNOWN}"
        )
    found = _parse_datatype_json_value(spark_schema(slot.shape))
    return TypeCode(found.json(), resolved(spec))


def returned(function: PythonFunction, serde_type: SerdeType) -> TypeCode:
    """Return the type of what a function returns."""
    spec = function.returns if function.returns is not None else _annotation(function)
    return typed(spec, f"result of the {function.role}", function.location, serde_type)


def returned_element(function: PythonFunction, serde_type: SerdeType) -> TypeCode:
    """Return the type of one of the values that a function returns."""
    spec = function.returns
    if spec is None:
        spec = _element(function, _annotation(function))
    return typed(spec, f"result of the {function.role}", function.location, serde_type)


def returned_pair(
    function: PythonFunction, serde_type: SerdeType, *, many: bool
) -> tuple[TypeCode, TypeCode]:
    """Return the types of the key and the value that a function returns, once or many times."""
    spec: Any = function.returns
    if spec is None:
        annotation = _annotation(function)
        found = _element(function, annotation) if many else annotation
        spec = typing.get_args(found) if typing.get_origin(found) is tuple else None
    if not isinstance(spec, tuple | list) or len(spec) != 2:
        raise _refused(
            f"The {function.role} does not say the types of the key and the value that it returns",
            function.location,
            'Write for example bm.python(f, returns=("string", "bigint")), or annotate it: '
            f"-> {'list[tuple[str, int]]' if many else 'tuple[str, int]'}",
        )
    parts = (typed(part, f"{name} that the {function.role} returns", function.location, serde_type)
             for part, name in zip(spec, ("key", "value"), strict=True))  # fmt: skip
    key, value = parts
    return key, value


def as_key(kind: TypeCode) -> TypeCode:
    """Return the type of a key: one with its window is known by its fields."""
    return replace(kind, is_windowed=True) if is_window(_parse_datatype_json_string(kind.json)) else kind


def _from_ddl(text: str, role: str, where: Location | None) -> DataType:
    try:
        return DataType.fromDDL(text)
    except PySparkException as error:
        said = str(error).split("SQLSTATE")[0].strip().splitlines()[0]
        raise _refused(
            f"The type of the {role} cannot be read: {text!r}: {said}", where, f"Give {_KNOWN}"
        ) from error


def _of_serde(serde: Serde, serde_type: SerdeType) -> TypeCode:
    if serde.is_pickled:
        return TypeCode(data_type_of(serde.spark_type()).json(), is_pickled=True)
    record = serde.python_record()
    if record is not None:
        return TypeCode(data_type_of(serde.spark_type()).json(), resolved(record))
    return as_key(TypeCode(serde_type(serde).json()))


def _annotation(function: PythonFunction) -> Any:
    """Return what the annotations of a function say that it returns."""
    call: Any = function.call
    if function.is_factory:
        made = call if isinstance(call, type) else _hints(call).get("return")
        call = getattr(made, "__call__", None) if isinstance(made, type) else None  # noqa: B004
    elif not isinstance(call, types.FunctionType | types.MethodType | types.BuiltinFunctionType):
        call = type(call).__call__
    found = _hints(call).get("return")
    if found is None:
        raise _refused(
            f"The {function.role} does not say what it returns",
            function.location,
            'Write for example bm.python(f, returns="string"), or annotate it: def f(value: str) -> str',
        )
    return found


def _hints(call: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(call)
    except (NameError, TypeError, AttributeError):
        return {}


def _element(function: PythonFunction, annotation: Any) -> Any:
    arguments = typing.get_args(annotation)
    if typing.get_origin(annotation) not in _ITERABLES or not arguments:
        raise _refused(
            f"The {function.role} does not say of what it returns several: found {type_name(annotation)}",
            function.location,
            'Write for example bm.python(f, returns="string"), the type of one of them, or annotate it: '
            "def f(value: str) -> list[str]",
        )
    return arguments[0]


def _refused(what: str, where: Location | None, remedy: str) -> ExpressionError:
    return ExpressionError([Fault(what, str(where) if where else None, remedy)])
