"""Turns serdes into the kernel's readers and writers."""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, _parse_datatype_json_string

from brookmere.errors import ExpressionError, Fault, UnsupportedError
from brookmere.run.columns import to_column
from brookmere.run.refusals import explained
from brookmere.serde import Custom, Json, Serde, Windowed, default_serde_for

_RAW = "raw"
_VALUE = "value"
_BUILT_IN = {
    "text": "string",
    "bytes": "binary",
    "int": "int",
    "long": "bigint",
    "double": "double",
    "bool": "boolean",
}


class Wire:
    """Makes readers and writers for one program."""

    def __init__(self, session: SparkSession, builder: Any) -> None:
        self._jvm: Any = session._jvm
        self._builder = builder

    def reader(self, serde: Serde, role: str, where: str | None) -> Any:
        """Return the kernel's reader of a serde."""
        if serde.kind in _BUILT_IN:
            return self._builder.reader(serde.kind)
        with explained(role, where):
            return self._builder.reader(self._decode(serde, F.col(_RAW))._jc)

    def writer(self, serde: Serde | None, node: int, is_key: bool, role: str, where: str | None) -> Any:
        """Return the kernel's writer of the key or value that `node` forwards.

        Without a serde the type decides.
        """
        data_type = self.type_of(node, is_key)
        chosen = serde or default_serde_for(data_type.simpleString())
        if chosen is None:
            raise ExpressionError(
                [
                    Fault(
                        f"The {role} has the type {data_type.simpleString()}, for which there is no serde",
                        where,
                        f"Name one with {'key' if is_key else 'value'}=, or cast it to a type that has one",
                    )
                ]
            )
        if chosen.kind in _BUILT_IN:
            found = self._builder.writer(node, is_key, chosen.kind)
            if found is None:
                raise ExpressionError([_misfit(chosen, data_type, role, where)])
            return found
        if isinstance(chosen, Json) and data_type.typeName() not in ("struct", "array", "map", "variant"):
            raise ExpressionError([_misfit(chosen, data_type, role, where)])
        with explained(role, where):
            return self._builder.writer(node, is_key, self._encode(chosen, F.col(_VALUE), data_type)._jc)

    def key_writer(self, serde: Serde | None, node: int, role: str, where: str | None) -> Any:
        """Return a writer for the key's hash: keys that no serde fits are hashed as JSON."""
        if serde is None and default_serde_for(self.type_of(node, True).simpleString()) is None:
            with explained(role, where):
                text = F.to_json(F.struct(F.col(_VALUE).alias("key")))
                return self._builder.writer(node, True, text.cast("binary")._jc)
        return self.writer(serde, node, True, role, where)

    def type_of(self, node: int, is_key: bool) -> DataType:
        """Return the type of the key or value that a node forwards."""
        text = self._builder.keyType(node) if is_key else self._builder.valueType(node)
        return _parse_datatype_json_string(text)

    @staticmethod
    def default(builder: Any, node: int, is_key: bool) -> Serde:
        """Return the serde that the type of what `node` writes asks for."""
        text = builder.keyType(node) if is_key else builder.valueType(node)
        found = default_serde_for(_parse_datatype_json_string(text).simpleString())
        if found is None:
            raise UnsupportedError(f"There is no serde for the type {text}")
        return found

    def _decode(self, serde: Serde, raw: Column) -> Column:
        if serde.kind in _BUILT_IN:
            return Column(self._jvm.org.apache.spark.sql.brookmere.Wire.read(raw._jc, serde.kind))
        if isinstance(serde, Json):
            return F.from_json(raw.cast("string"), _schema(serde), {"mode": "FAILFAST"})
        if isinstance(serde, Custom):
            return to_column(serde.decode(raw))
        if isinstance(serde, Windowed):
            return self._decode_windowed(serde, raw)
        raise UnsupportedError(f"The serde {type(serde).__name__} cannot be used in a topology")

    def _decode_windowed(self, serde: Windowed, raw: Column) -> Column:
        if serde.form == "json":
            inner = serde.inner
            kind = _BUILT_IN.get(inner.kind)
            schema = kind or f"struct<{_ddl(inner)}>"
            return F.from_json(
                raw.cast("string"), f"key {schema}, start bigint, end bigint", {"mode": "FAILFAST"}
            )
        tail = 16 if serde.session else 8
        length = F.octet_length(raw)
        key = self._decode(serde.inner, F.substring(raw, F.lit(1), length - tail))
        first = self._long(F.substring(raw, length - tail + 1, F.lit(8)))
        if serde.session:
            start, end = self._long(F.substring(raw, length - 7, F.lit(8))), first
        else:
            start = first
            end = start + serde.size_ms if serde.size_ms is not None else F.lit(2**63 - 1).cast("bigint")
        short = F.raise_error(F.lit(f"a windowed key has at least {tail} bytes"))
        return F.when(
            length >= tail, F.struct(key.alias("key"), start.alias("start"), end.alias("end"))
        ).otherwise(short)

    def _long(self, raw: Column) -> Column:
        return Column(self._jvm.org.apache.spark.sql.brookmere.Wire.read(raw._jc, "long"))

    def _write(self, value: Column, kind: str) -> Column:
        return Column(self._jvm.org.apache.spark.sql.brookmere.Wire.write(value._jc, kind))

    def _encode(self, serde: Serde, value: Column, data_type: DataType) -> Column:
        if serde.kind in _BUILT_IN:
            return self._write(value, serde.kind)
        if isinstance(serde, Json):
            return F.to_json(value, {"ignoreNullFields": "false"}).cast("binary")
        if isinstance(serde, Custom):
            return to_column(serde.encode(value))
        if isinstance(serde, Windowed):
            if serde.form == "json":
                return F.to_json(value, {"ignoreNullFields": "false"}).cast("binary")
            key = self._encode(serde.inner, value["key"], data_type)
            start, end = self._write(value["start"], "long"), self._write(value["end"], "long")
            return F.concat(key, end, start) if serde.session else F.concat(key, start)
        raise UnsupportedError(f"The serde {type(serde).__name__} cannot be used in a topology")


def _schema(serde: Json) -> Any:
    if serde.ddl is not None:
        return serde.ddl
    return _parse_datatype_json_string(serde.schema_json() or "")


def _ddl(inner: Serde) -> str:
    if not isinstance(inner, Json) or inner.ddl is None:
        raise UnsupportedError(
            "A windowed key in JSON form needs a built-in inner serde or Json with a DDL string"
        )
    return inner.ddl


def _misfit(serde: Serde, data_type: DataType, role: str, where: str | None) -> Fault:
    return Fault(
        f"The {role} has the type {data_type.simpleString()}, which {type(serde).__name__} does not write",
        where,
        f"Cast it to {_BUILT_IN.get(serde.kind, 'a struct')}, or use the serde of its type",
    )
