"""Spark's own types of serdes, and types in the JSON form that serdes are asked with."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pyspark.sql.types import DataType, StringType, _parse_datatype_json_value

from brookmere.serde import Serde
from brookmere.serde.columns import SparkType


class Types:
    """Implements `SparkTypes`: asks serdes for their types, and Spark for what their DDL means."""

    def of(self, serde: Serde) -> Any:
        """Return the type that values of a serde have, in Spark's JSON form."""
        return form_of(data_type_of(serde.spark_type()))


TYPES = Types()


def data_type_of(spark_type: SparkType) -> DataType:
    """Return the type of a serde as Spark has it."""
    if isinstance(spark_type, str):
        return _from_ddl(spark_type)
    return _parse_datatype_json_value(spark_type)


def form_of(data_type: DataType) -> Any:
    """Return a type in Spark's JSON form."""
    # Lengths and collations do not change the bytes.
    return "string" if isinstance(data_type, StringType) else data_type.jsonValue()


@lru_cache(maxsize=200)
def _from_ddl(ddl: str) -> DataType:
    return DataType.fromDDL(ddl)
