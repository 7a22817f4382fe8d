"""Serdes as a user would write them: amounts of money with a fixed point, and days as keys."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, ClassVar

import brookmere as bm
from brookmere.serdes import BadBytes, Columns

_EPOCH = date(1970, 1, 1)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class Money(bm.Serde):
    """An amount in 8 bytes: how many of its smallest unit. A Spark decimal."""

    key_text: ClassVar[str] = "an amount such as 12.50"

    digits: int = 2

    def serialize(self, value: Any) -> bytes | None:
        if value is None:
            return None
        units = Decimal(value).scaleb(self.digits)
        if units != units.to_integral_value():
            raise ValueError(f"{value} has more than {self.digits} digits after the point")
        return struct.pack(">q", int(units))

    def deserialize(self, data: bytes | None) -> Any:
        if data is None:
            return None
        if len(data) != 8:
            raise BadBytes(f"expected 8 bytes for an amount, found {len(data)}")
        return Decimal(struct.unpack(">q", data)[0]).scaleb(-self.digits)

    def spark_type(self) -> str:
        return f"decimal(18,{self.digits})"

    def read_column(self, raw: Any, columns: Columns) -> Any:
        from pyspark.sql import functions as F

        units = columns.read_with(bm.Long(), raw).cast("decimal(20,0)")
        return (units / F.lit(10**self.digits)).cast(self.spark_type())

    def write_column(self, value: Any, columns: Columns, found: Any) -> Any:
        return columns.write_with(bm.Long(), (value * 10**self.digits).cast("bigint"), "long")

    def key_from_text(self, text: str) -> Any:
        return Decimal(text)

    def json_value(self, value: Any) -> Any:
        return f"{value:.{self.digits}f}"

    def json_schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": r"^-?\d+\.\d+$"}


@dataclass(frozen=True, slots=True)
class Day(bm.Serde):
    """A day in 4 bytes, since 1970. A Spark date."""

    key_text: ClassVar[str] = "a day such as 2024-02-29"

    def serialize(self, value: Any) -> bytes | None:
        return None if value is None else struct.pack(">i", (value - _EPOCH).days)

    def deserialize(self, data: bytes | None) -> Any:
        if data is None:
            return None
        if len(data) != 4:
            raise BadBytes(f"expected 4 bytes for a day, found {len(data)}")
        return _EPOCH + timedelta(days=struct.unpack(">i", data)[0])

    def spark_type(self) -> str:
        return "date"

    def read_column(self, raw: Any, columns: Columns) -> Any:
        from pyspark.sql import functions as F

        return F.date_from_unix_date(columns.read_with(bm.Int(), raw))

    def write_column(self, value: Any, columns: Columns, found: Any) -> Any:
        from pyspark.sql import functions as F

        return columns.write_with(bm.Int(), F.unix_date(value), "integer")

    def key_from_text(self, text: str) -> Any:
        if not _DAY.fullmatch(text):
            raise ValueError(repr(text))
        return date.fromisoformat(text)

    def from_json_value(self, parsed: Any) -> Any:
        return self.key_from_text(parsed)

    def key_json_schema(self) -> dict[str, Any]:
        return {"type": "string", "format": "date"}


CENTS = Money()
EUROS = Money(digits=0)
