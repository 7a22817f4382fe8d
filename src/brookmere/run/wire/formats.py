"""The Columns that decode the bytes of a serde and encode its values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import DataType

from brookmere.run.expressions.columns import applied
from brookmere.run.wire.required_fields import checked
from brookmere.run.wire.schemas import SchemaFormats
from brookmere.run.wire.types import TYPES, Types, data_type_of, form_of
from brookmere.serde import Serde
from brookmere.serde.columns import SparkType
from brookmere.topology.function import function

_FOREVER = 2**63 - 1
# Spark accepts single quotes in JSON by default.
_STRICT = {"mode": "FAILFAST", "allowSingleQuotes": "false"}


class Formats(SchemaFormats):
    """Implements `Columns`, what serdes ask for, for one session."""

    types: Types = TYPES

    def decode(self, serde: Serde, raw: Column) -> Column:
        """Return the value of the bytes `raw`; it fails on bytes that have none."""
        column: Column = serde.read_column(raw, self)
        return column

    def encode(self, serde: Serde, value: Column, found: DataType) -> Column:
        """Return the bytes of `value`, which has the type `found`."""
        column: Column = serde.write_column(value, self, form_of(found))
        return column

    def read_with(self, serde: Serde, raw: Column) -> Column:
        """Return the value that another serde reads."""
        return self.decode(serde, raw)

    def write_with(self, serde: Serde, value: Column, found: Any) -> Column:
        """Return the bytes that another serde writes."""
        column: Column = serde.write_column(value, self, found)
        return column

    def call(self, what: str, call: Callable[..., Any], column: Column) -> Column:
        """Apply a Column function; an error in it is reported as an error of `what`."""
        return applied(function(what, call), column)

    def read_format(self, name: str, raw: Column) -> Column:
        """Return the value in one of the kernel's own formats."""
        return Column(self._wire.read(raw._jc, name))

    def write_format(self, name: str, value: Column) -> Column:
        """Return the bytes in one of the kernel's own formats."""
        return Column(self._wire.write(value._jc, name))

    def from_json(self, raw: Column, form: SparkType) -> Column:
        """Return the value of strict JSON."""
        data_type = data_type_of(form)
        # Not a cast: it accepts bytes that are not UTF-8, and the parser ignores all after the first value.
        text = self.read_format("json-text", raw)
        return checked(F.from_json(text, data_type, _STRICT), data_type)  # type: ignore[arg-type]

    def to_json(self, value: Column, *, nulls: bool = True) -> Column:
        """Return the bytes of the JSON of a struct, an array or a map."""
        return F.to_json(value, {"ignoreNullFields": "false" if nulls else "true"}).cast("binary")

    def wrapped(self, value: Column, name: str) -> Column:
        """Return a struct with the value as its only field."""
        return F.struct(value.alias(name))

    def checked(self, value: Column, form: Any) -> Column:
        """Return the value; it fails where a part is null that the type does not allow."""
        return checked(value, data_type_of(form))

    def read_windowed(self, inner: Serde, raw: Column, *, size_ms: int | None, session: bool) -> Column:
        """Return the key with its window from Kafka's binary form."""
        tail = 16 if session else 8
        length = F.octet_length(raw)
        key = self.read_with(inner, F.substring(raw, F.lit(1), length - tail))
        first = self.read_format("long", F.substring(raw, length - tail + 1, F.lit(8)))
        if session:
            start, end = self.read_format("long", F.substring(raw, length - 7, F.lit(8))), first
        else:
            start = first
            forever = F.lit(_FOREVER).cast("bigint")
            end = forever if size_ms is None else F.coalesce(F.try_add(start, F.lit(size_ms)), forever)
        window = F.struct(key.alias("key"), start.alias("start"), end.alias("end"))
        what = f"expected at least {tail} bytes for a key with its window, found "
        short = F.raise_error(F.concat(F.lit(what), length.cast("string")))
        return F.when(length >= tail, window).otherwise(short)

    def write_windowed(self, inner: Serde, value: Column, found: Any, *, session: bool) -> Column:
        """Return a key with its window in Kafka's binary form; `found` is the type of the key alone."""
        key = self.write_with(inner, value["key"], found)
        start, end = (self.write_format("long", value[name]) for name in ("start", "end"))
        return F.concat(key, end, start) if session else F.concat(key, start)

    def valid_window(self, value: Column) -> Column:
        """Return a key with its window; it fails where the window ends before it starts."""
        return checked(value, _wrong_window)

    def whole_window(self, value: Column, written: Column) -> Column:
        """Return `written`, or null for a window without a key."""
        return F.when(value["key"].isNotNull(), written)


def _wrong_window(key: Column) -> Column:
    def said(words: str) -> Column:
        return F.concat(F.lit(words), key["start"].cast("string"), F.lit(" to "), key["end"].cast("string"))

    early = F.when(key["start"] < 0, said("a window cannot start before 1970: found "))
    return early.when(key["end"] < key["start"], said("a window cannot end before it starts: found "))
