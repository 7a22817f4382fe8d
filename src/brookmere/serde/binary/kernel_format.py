"""What the formats have in common that the kernel reads and writes by itself."""

from __future__ import annotations

from typing import Any, ClassVar

from brookmere.serde.base import Serde
from brookmere.serde.columns import Column, Columns, SparkType


class KernelFormat(Serde):
    """A format of the kernel: one Spark type, and no parameters."""

    __slots__ = ()

    type: ClassVar[str]
    """Its Spark type, as DDL."""

    is_default: ClassVar[bool] = True
    has_json_key: ClassVar[bool] = True

    def spark_type(self) -> SparkType:
        return self.type

    def read_column(self, raw: Column, columns: Columns) -> Column:
        return columns.read_format(self._format(), raw)

    def write_column(self, value: Column, columns: Columns, found: Any) -> Column:  # noqa: ARG002
        return columns.write_format(self._format(), value)

    def from_json_value(self, parsed: Any) -> Any:
        # Writing knows which values are its own, and reading gives them as they come from a topic.
        return self.deserialize(self.serialize(parsed))

    def _format(self) -> str:
        assert self.kernel_format is not None
        return self.kernel_format
