"""The serdes that changelogs are written with."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import DataType

from brookmere.run.wire.fit import is_window, misfit, natural_serde, settled
from brookmere.run.wire.types import form_of
from brookmere.serde import Json, Serde, Windowed
from brookmere.serde.json.json import MEMBER


def log_serde(given: Serde | None, data_type: DataType) -> Serde:
    """Return the given serde, or else that of the type. A type without one is written as a JSON object.

    A changelog must not limit what a program may do, so nothing is refused here.
    """
    if isinstance(given, Windowed) and is_window(data_type):
        return replace(given, inner=log_serde(given.inner, data_type["key"].dataType))
    chosen = settled(None if given is None else given.for_changelog(), data_type)
    if chosen is not None and misfit(chosen, data_type) is None:
        return chosen
    return natural_serde(data_type) or Json(f"struct<{MEMBER}:{data_type.simpleString()}>")


def log_column(serde: Serde, value: Column, data_type: DataType) -> Column:
    """Return what `serde` writes of a value: the value, or an object with it as the only member."""
    if isinstance(serde, Windowed) and is_window(data_type):
        key = log_column(serde.inner, value["key"], data_type["key"].dataType)
        return F.struct(key.alias("key"), value["start"].alias("start"), value["end"].alias("end"))
    member = serde.log_form(form_of(data_type))
    return value if member is None else F.struct(value.alias(member))
