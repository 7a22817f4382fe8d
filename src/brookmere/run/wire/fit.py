"""Whether a serde can write values of a Spark type, and which serde a type asks for."""

from __future__ import annotations

from typing import TypeGuard

from pyspark.sql.types import DataType, StructType

from brookmere.run.wire.types import TYPES, form_of
from brookmere.serde import Serde
from brookmere.serde.default import Natural
from brookmere.serde.structures import type_fit
from brookmere.serde.structures.type_fit import Misfit


def natural_serde(data_type: DataType) -> Serde | None:
    """Return the serde that a type asks for, or None."""
    return Natural().settled(form_of(data_type))


def settled(serde: Serde | None, data_type: DataType) -> Serde | None:
    """Return the serde for values of `data_type`, where the program leaves it or a part of it open."""
    return (serde or Natural()).settled(form_of(data_type))


def misfit(serde: Serde, data_type: DataType) -> Misfit | None:
    """Return why `serde` cannot write values of `data_type`, or None."""
    return serde.misfit(form_of(data_type), TYPES)


def is_window(data_type: DataType) -> TypeGuard[StructType]:
    """Return whether values of a type are keys with their window."""
    return type_fit.is_window(form_of(data_type))
