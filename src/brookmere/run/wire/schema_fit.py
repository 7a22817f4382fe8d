"""Says why values of a type cannot be written by a schema: of Avro, of Protobuf or of JSON."""

from __future__ import annotations

from pyspark.sql.types import (
    ArrayType,
    ByteType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    IntegralType,
    LongType,
    MapType,
    NullType,
    NumericType,
    ShortType,
    StringType,
    StructType,
)

from brookmere.names import nearest
from brookmere.run.wire.schemas import write_type
from brookmere.serde import Registered
from brookmere.serde.avro.avro_types import MEMBER, WITH_DEFAULT

Misfit = tuple[str, str]
"""What is wrong, as the end of a sentence about the value, and the remedy."""

_SMALL = (ByteType, ShortType, IntegerType)


def schema_misfit(serde: Registered, data_type: DataType) -> Misfit | None:
    """Return why `serde` cannot write values of `data_type`, or None."""
    return _Fit(type(serde).__name__, serde.kind == "json_schema").misfit(write_type(serde), data_type, "")


class _Fit:
    def __init__(self, name: str, is_json: bool) -> None:
        self._name = name
        self._is_json = is_json

    def misfit(self, schema: DataType, found: DataType, path: str) -> Misfit | None:
        if isinstance(found, NullType):
            return None
        if isinstance(schema, StructType) and any(MEMBER in field.metadata for field in schema.fields):
            return self._union(schema, found, path)
        if isinstance(schema, StructType) and isinstance(found, StructType):
            return self._fields(schema, found, path)
        if isinstance(schema, ArrayType) and isinstance(found, ArrayType):
            return self.misfit(schema.elementType, found.elementType, f"{path}[]")
        if isinstance(schema, MapType) and isinstance(found, MapType):
            keys = self.misfit(schema.keyType, found.keyType, f"{path}[key]")
            return keys or self.misfit(schema.valueType, found.valueType, f"{path}[]")
        return None if self._fits(schema, found) else self._other(schema, found, path)

    def _other(self, schema: DataType, found: DataType, path: str) -> Misfit:
        place = f" in {path.removeprefix('.')}" if path else ""
        said = f"the schema of {self._name} says {schema.simpleString()}"
        what = f"has the type {found.simpleString()}{place}, where {said}"
        return what, "Cast it, or correct the schema"

    def _union(self, schema: StructType, found: DataType, path: str) -> Misfit | None:
        if isinstance(found, StructType) and set(found.names) <= set(schema.names):
            return self._fields(schema, found, path)
        if any(self.misfit(member.dataType, found, path) is None for member in schema.fields):
            return None
        return self._other(schema, found, path)

    def _fields(self, schema: StructType, found: StructType, path: str) -> Misfit | None:
        named = f"the schema of {self._name}"
        for field in found.fields:
            if field.name not in schema.names:
                close = nearest(field.name, schema.names)
                what = f"has the field {(path + '.' + field.name)[1:]!r}, which {named} does not name"
                return what, f"Did you mean {close!r}?" if close else "Add it to the schema, or leave it out"
            inner = self.misfit(schema[field.name].dataType, field.dataType, f"{path}.{field.name}")
            if inner is not None:
                return inner
        for field in schema.fields:
            needed = not field.nullable and WITH_DEFAULT not in field.metadata
            if needed and field.name not in found.names:
                what = f"lacks the field {(path + '.' + field.name)[1:]!r}, which {named} requires"
                return what, "Add it to the value, or give it a default or allow null in the schema"
        return None

    def _fits(self, schema: DataType, found: DataType) -> bool:
        if isinstance(schema, StringType) and isinstance(found, StringType):
            return True
        if self._is_json and isinstance(schema, DoubleType):
            return isinstance(found, NumericType)
        if isinstance(schema, DecimalType):
            return _fits_decimal(schema, found)
        if isinstance(schema, LongType):
            return isinstance(found, IntegralType)
        if isinstance(schema, IntegerType):
            return isinstance(found, _SMALL)
        if isinstance(schema, DoubleType):
            return isinstance(found, DoubleType | FloatType | ByteType | ShortType | IntegerType)
        return schema == found


def _fits_decimal(schema: DecimalType, found: DataType) -> bool:
    if isinstance(found, DecimalType):
        room = schema.precision - schema.scale
        return found.scale <= schema.scale and found.precision - found.scale <= room
    # Unsigned numbers of Protobuf, which have no sign to lose.
    return (schema.precision, schema.scale) == (20, 0) and isinstance(found, IntegralType)
