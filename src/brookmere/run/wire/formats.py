"""Turns a serde into the Columns that decode its bytes and encode its values."""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, LongType, StructType, _parse_datatype_json_string

from brookmere.errors import UnsupportedError
from brookmere.run.expressions.columns import applied
from brookmere.run.wire.required_fields import checked, strict_type
from brookmere.run.wire.schemas import SchemaFormats, read_type
from brookmere.serde import Custom, Json, Pickled, Serde, Windowed
from brookmere.serde.avro.avro import Avro
from brookmere.serde.json.json_schema import JsonSchema
from brookmere.serde.protobuf.protobuf import Protobuf
from brookmere.topology.function import function

BUILT_IN = {
    "text": "string",
    "bytes": "binary",
    "int": "int",
    "long": "bigint",
    "double": "double",
    "bool": "boolean",
}
"""The Spark types of the serdes that the kernel knows by kind."""

_FOREVER = 2**63 - 1
# Spark reads single quotes as JSON unless told otherwise.
_STRICT = {"mode": "FAILFAST", "allowSingleQuotes": "false"}
_WITH_NULLS = {"ignoreNullFields": "false"}


def json_type(serde: Json) -> DataType:
    """Return the type that a Json serde reads; its parts may not be null where the schema says so."""
    if serde.ddl is not None:
        return DataType.fromDDL(serde.ddl)
    read = _parse_datatype_json_string(serde.schema_json() or "")
    return read if serde.record is None else strict_type(serde.record, read)


class Formats:
    """Makes the Columns for one session."""

    def __init__(self, jvm: Any, *, registers: bool = True) -> None:
        self._wire = jvm.org.apache.spark.sql.brookmere.Wire
        self.schemas = SchemaFormats(jvm, registers)

    def decode(self, serde: Serde, raw: Column) -> Column:
        """Return the value of the bytes `raw`; it fails on bytes that have none."""
        if serde.kind in BUILT_IN:
            return self._read(raw, serde.kind)
        if isinstance(serde, Pickled):
            # Only Python can tell what it is: Columns see the bytes.
            return raw
        if isinstance(serde, Json):
            return self._from_json(raw, json_type(serde))
        if isinstance(serde, Avro):
            return self.schemas.decode_avro(serde, raw)
        if isinstance(serde, Protobuf):
            return self.schemas.decode_protobuf(serde, raw)
        if isinstance(serde, JsonSchema):
            return self._from_json(self.schemas.unframed(serde, raw), read_type(serde))
        if isinstance(serde, Custom):
            return applied(function(f"decode of the serde {serde.name!r}", serde.decode), raw)
        if isinstance(serde, Windowed):
            key = self._windowed_json(serde, raw) if serde.form == "json" else self._windowed(serde, raw)
            return checked(key, _wrong_window)
        raise UnsupportedError(f"The serde {type(serde).__name__} cannot be used in a topology")

    def encode(self, serde: Serde, value: Column, found: DataType) -> Column:
        """Return the bytes of `value`, which has the type `found`."""
        if serde.kind in BUILT_IN:
            return Column(self._wire.write(value._jc, serde.kind))
        if isinstance(serde, Pickled):
            return value
        if isinstance(serde, Json):
            return F.to_json(value, _WITH_NULLS).cast("binary")
        if isinstance(serde, Avro):
            return self.schemas.encode_avro(serde, value)
        if isinstance(serde, Protobuf):
            return self.schemas.encode_protobuf(serde, value)
        if isinstance(serde, JsonSchema):
            return self.schemas.encode_json(serde, value, found)
        if isinstance(serde, Custom):
            return applied(function(f"encode of the serde {serde.name!r}", serde.encode), value)
        if isinstance(serde, Windowed):
            if serde.form == "json":
                return F.when(value["key"].isNotNull(), F.to_json(value, _WITH_NULLS).cast("binary"))
            inner = found["key"].dataType if isinstance(found, StructType) else found
            key = self.encode(serde.inner, value["key"], inner)
            start, end = (Column(self._wire.write(value[name]._jc, "long")) for name in ("start", "end"))
            return F.concat(key, end, start) if serde.session else F.concat(key, start)
        raise UnsupportedError(f"The serde {type(serde).__name__} cannot be used in a topology")

    def _read(self, raw: Column, kind: str) -> Column:
        return Column(self._wire.read(raw._jc, kind))

    def _from_json(self, raw: Column, data_type: DataType) -> Column:
        # Not by a cast: it takes bytes that are no UTF-8, and the parser ignores all behind the first value.
        parsed = F.from_json(self._read(raw, "json-text"), data_type, _STRICT)  # type: ignore[arg-type]
        return checked(parsed, data_type)

    def _windowed_json(self, serde: Windowed, raw: Column) -> Column:
        inner = serde.inner
        key = json_type(inner) if isinstance(inner, Json) else DataType.fromDDL(BUILT_IN[inner.kind])
        members = StructType().add("key", key, False)
        return self._from_json(raw, members.add("start", LongType(), False).add("end", LongType(), False))

    def _windowed(self, serde: Windowed, raw: Column) -> Column:
        tail = 16 if serde.session else 8
        length = F.octet_length(raw)
        key = self.decode(serde.inner, F.substring(raw, F.lit(1), length - tail))
        first = self._read(F.substring(raw, length - tail + 1, F.lit(8)), "long")
        if serde.session:
            start, end = self._read(F.substring(raw, length - 7, F.lit(8)), "long"), first
        else:
            start = first
            forever = F.lit(_FOREVER).cast("bigint")
            size = serde.size_ms
            end = forever if size is None else F.coalesce(F.try_add(start, F.lit(size)), forever)
        window = F.struct(key.alias("key"), start.alias("start"), end.alias("end"))
        what = f"expected at least {tail} bytes for a key with its window, found "
        short = F.raise_error(F.concat(F.lit(what), length.cast("string")))
        return F.when(length >= tail, window).otherwise(short)


def _wrong_window(key: Column) -> Column:
    def said(words: str) -> Column:
        return F.concat(F.lit(words), key["start"].cast("string"), F.lit(" to "), key["end"].cast("string"))

    early = F.when(key["start"] < 0, said("a window cannot start before 1970: found "))
    return early.when(key["end"] < key["start"], said("a window cannot end before it starts: found "))
