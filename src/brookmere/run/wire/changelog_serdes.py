"""Turns the serde of a table's keys or values into what its changelog is written with."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, VariantType

from brookmere.run.wire.fit import is_window, misfit, natural_serde, settled
from brookmere.serde import Json, Registered, Serde, Windowed

MEMBER = "value"
"""What a value is called in the object around it, where it is no object by itself."""


def log_serde(given: Serde | None, data_type: DataType) -> Serde:
    """Return the given serde, or else that of the type. A type without one is written as a JSON object.

    A changelog has no say in what a program may do, so nothing is refused for its sake.
    """
    if isinstance(given, Windowed) and is_window(data_type):
        return replace(given, inner=log_serde(given.inner, data_type["key"].dataType))
    chosen = settled(_registering(given), data_type)
    if chosen is not None and misfit(chosen, data_type) is None:
        return chosen
    return natural_serde(data_type) or Json(f"struct<{MEMBER}:{data_type.simpleString()}>")


def _registering(given: Serde | None) -> Serde | None:
    """Return a serde whose schema need not be in a registry: nobody registers those of changelogs."""
    if not isinstance(given, Registered) or given.client is None:
        return given
    if given.text is None:
        return None
    if given.register and not given.use_latest:
        return given
    return given.without_registry()


def log_column(serde: Serde, value: Column, data_type: DataType) -> Column:
    """Return what `serde` writes of a value: the value, or an object with it as the only member."""
    if isinstance(serde, Windowed) and is_window(data_type):
        key = log_column(serde.inner, value["key"], data_type["key"].dataType)
        return F.struct(key.alias("key"), value["start"].alias("start"), value["end"].alias("end"))
    if isinstance(serde, Json) and not isinstance(data_type, StructType | ArrayType | MapType | VariantType):
        return F.struct(value.alias(MEMBER))
    return value
