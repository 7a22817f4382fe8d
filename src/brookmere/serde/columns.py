"""What a serde may ask of Spark. `brookmere.run.wire` implements it: serdes themselves import no PySpark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from brookmere.serde.base import Serde
    from brookmere.serde.registered import Registry

Column = Any
"""A `pyspark.sql.Column`."""

SparkType = str | dict[str, Any]
"""A type of Spark: DDL text such as "bigint" or "id bigint, name string", or Spark's JSON form as a dict."""


class SparkTypes(Protocol):
    """Knows the types of Spark."""

    def of(self, serde: Serde) -> Any:
        """Return the type that values of a serde have, in Spark's JSON form."""


class Columns(Protocol):
    """Makes the Columns of a serde: `raw` is always a Column of bytes, `value` one of values.

    `read_with` and `write_with` build on another serde; `call` is for Column functions of your own.
    The rest is what the built-in formats need.
    """

    @property
    def types(self) -> SparkTypes:
        """The types of serdes."""

    @property
    def registers(self) -> bool:
        """Whether schemas that are written are registered; checking a program registers nothing."""

    def read_with(self, serde: Serde, raw: Column) -> Column:
        """Return the value that another serde reads; it fails on bytes that have none."""

    def write_with(self, serde: Serde, value: Column, found: Any) -> Column:
        """Return the bytes that another serde writes; `found` is the type of the value in JSON form."""

    def call(self, what: str, function: Callable[..., Any], column: Column) -> Column:
        """Apply a Column function; an error in it is reported as an error of `what`."""

    def read_format(self, name: str, raw: Column) -> Column:
        """Return the value in one of the kernel's own formats, such as "long"."""

    def write_format(self, name: str, value: Column) -> Column:
        """Return the bytes in one of the kernel's own formats."""

    def from_json(self, raw: Column, form: SparkType) -> Column:
        """Return the value of strict JSON; it fails where a part is null that the type does not allow."""

    def to_json(self, value: Column, *, nulls: bool = True) -> Column:
        """Return the bytes of the JSON of a struct, an array or a map, with or without its nulls."""

    def wrapped(self, value: Column, name: str) -> Column:
        """Return a struct with the value as its only field."""

    def checked(self, value: Column, form: Any) -> Column:
        """Return the value; it fails where a part is null that the type does not allow."""

    def read_windowed(self, inner: Serde, raw: Column, *, size_ms: int | None, session: bool) -> Column:
        """Return the key with its window from Kafka's binary form."""

    def write_windowed(self, inner: Serde, value: Column, found: Any, *, session: bool) -> Column:
        """Return a key with its window in Kafka's binary form."""

    def valid_window(self, value: Column) -> Column:
        """Return a key with its window; it fails where the window ends before it starts."""

    def whole_window(self, value: Column, written: Column) -> Column:
        """Return `written`, or null for a window without a key."""

    def framed(self, front: bytes, payload: Column) -> Column:
        """Return the payload after the frame of a schema registry."""

    def unframed(self, raw: Column) -> Column:
        """Return what follows the frame of a schema registry."""

    def read_avro(self, raw: Column, schemas: Sequence[str], form: Any, registry: Registry | None) -> Column:
        """Return the value of Avro's binary form, read as the last of the schemas."""

    def write_avro(self, value: Column, schemas: Sequence[str], id: int | None) -> Column:
        """Return Avro's binary form by the last of the schemas, after the id if there is one."""

    def read_protobuf(self, raw: Column, message: str, form: Any, *, is_framed: bool) -> Column:
        """Return the value of a Protobuf message, which is described as the kernel reads it."""

    def write_protobuf(self, value: Column, message: str, front: bytes) -> Column:
        """Return the bytes of a Protobuf message after `front`."""
