"""Says why a serde cannot write values of a type."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    LongType,
    MapType,
    NullType,
    NumericType,
    StringType,
    StructType,
    VariantType,
)

from brookmere.names import nearest
from brookmere.run.wire.formats import BUILT_IN, json_type
from brookmere.run.wire.schema_fit import Misfit, schema_misfit
from brookmere.serde import Json, Pickled, Registered, Serde, Windowed, default_serde_for
from brookmere.serde.default import Natural

_WINDOW = ["key", "start", "end"]


def natural_serde(data_type: DataType) -> Serde | None:
    """Return the serde that a type asks for, or None."""
    # Lengths and collations are no concern of the bytes.
    is_text = isinstance(data_type, StringType)
    return default_serde_for("string" if is_text else data_type.simpleString())


def settled(serde: Serde | None, data_type: DataType) -> Serde | None:
    """Return the serde for values of `data_type`, where the program leaves it or a part of it open."""
    if serde is None or isinstance(serde, Natural):
        return natural_serde(data_type)
    if not isinstance(serde, Windowed):
        return serde
    key = data_type["key"].dataType if is_window(data_type) else None
    inner = serde.inner if key is None else settled(serde.inner, key)
    return None if inner is None or isinstance(inner, Natural) else replace(serde, inner=inner)


def misfit(serde: Serde, data_type: DataType) -> Misfit | None:
    """Return why `serde` cannot write values of `data_type`, or None."""
    if serde.kind in BUILT_IN:
        fits = natural_serde(data_type) == serde
        return None if fits else _other_type(serde, data_type, f"Cast it to {BUILT_IN[serde.kind]}")
    if isinstance(serde, Pickled):
        is_bytes = isinstance(data_type, BinaryType)
        return None if is_bytes else _other_type(serde, data_type, "Let Python code return Pickled()")
    if isinstance(serde, Json):
        if not isinstance(data_type, StructType | ArrayType | MapType | VariantType):
            return _other_type(serde, data_type, "Make it a struct, for example F.struct(...)")
        return _json_misfit(json_type(serde), data_type, "")
    if isinstance(serde, Registered):
        return schema_misfit(serde, data_type)
    if isinstance(serde, Windowed):
        return _windowed_misfit(serde, data_type)
    return None


def _other_type(serde: Serde, data_type: DataType, remedy: str) -> Misfit:
    what = f"has the type {data_type.simpleString()}, which {type(serde).__name__} does not write"
    return what, f"{remedy}, or use the serde of its type"


def _windowed_misfit(serde: Windowed, data_type: DataType) -> Misfit | None:
    if not is_window(data_type):
        return _other_type(serde, data_type, "Make it a struct of key, start and end")
    for name in _WINDOW[1:]:
        if not isinstance(data_type[name].dataType, LongType):
            return _other_type(serde, data_type, f"Cast {name} to bigint")
    inner = misfit(serde.inner, data_type["key"].dataType)
    return None if inner is None else (f"has a key that {inner[0]}", inner[1])


def is_window(data_type: DataType) -> TypeGuard[StructType]:
    """Tell whether values of a type are keys with their window."""
    return isinstance(data_type, StructType) and data_type.fieldNames() == _WINDOW


def _json_misfit(schema: DataType, found: DataType, path: str) -> Misfit | None:
    """Compare as JSON does: numbers are numbers, and an object may be a struct or a map."""
    if isinstance(schema, StructType) and isinstance(found, StructType):
        return _fields_misfit(schema, found, path)
    if isinstance(schema, ArrayType) and isinstance(found, ArrayType):
        return _json_misfit(schema.elementType, found.elementType, f"{path}[]")
    if isinstance(schema, MapType) and isinstance(found, MapType):
        return _json_misfit(schema.valueType, found.valueType, f"{path}[]")
    if _json_kind(schema) == _json_kind(found) or isinstance(found, NullType | VariantType):
        return None
    field = f" in {path.removeprefix('.')}" if path else ""
    what = (
        f"has the type {found.simpleString()}{field}, where the schema of Json says {schema.simpleString()}"
    )
    return what, "Cast it, or correct the schema"


def _fields_misfit(schema: StructType, found: StructType, path: str) -> Misfit | None:
    for field in found.fields:
        if field.name not in schema.names:
            close = nearest(field.name, schema.names)
            what = f"has the field {(path + '.' + field.name)[1:]!r}, which the schema of Json does not name"
            return what, f"Did you mean {close!r}?" if close else "Add it to the schema, or leave it out"
        inner = _json_misfit(schema[field.name].dataType, field.dataType, f"{path}.{field.name}")
        if inner is not None:
            return inner
    return None


def _json_kind(data_type: DataType) -> str:
    if isinstance(data_type, NumericType):
        return "number"
    if isinstance(data_type, StringType):
        return "text"
    return "object" if isinstance(data_type, StructType | MapType) else data_type.typeName()
