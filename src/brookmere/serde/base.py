"""Everything that is true of one serde: its bytes, its Spark type, its Columns, its text, its description."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from brookmere.serde import kinds
from brookmere.serde.bad_values import BadBytes
from brookmere.serde.columns import Column, Columns, SparkType, SparkTypes
from brookmere.serde.json.any_json import json_of
from brookmere.serde.json.json_text import from_json, to_json
from brookmere.serde.json.value_schemas import ANY, schema_of_type
from brookmere.serde.structures.spark_fields import NoSchema, form_of
from brookmere.serde.structures.type_fit import Misfit, type_misfit

if TYPE_CHECKING:
    from brookmere.serde.registered import Registry

_HEX = re.compile(r"0x([0-9a-fA-F]{2})*")
_SHOWN = 80


class Serde(ABC):
    """How the keys or values of a topic are written as bytes. None is always None.

    A serde is a frozen value: two serdes of the same meaning are equal. A subclass is found by its `kind`
    from then on. It must say five things: `serialize` and `deserialize` for Python values, `spark_type`,
    `read_column` and `write_column` for a running query. All else has a default that it may replace.
    """

    __slots__ = ()

    kind: ClassVar[str]
    """The name of the format. A class that gives none is called by its import path, `module:Name`."""

    kernel_format: ClassVar[str | None] = None
    """What the kernel calls this format, where it reads and writes it without Columns."""

    is_default: ClassVar[bool] = False
    """Whether the Spark type alone chooses this serde, where a program names none."""

    key_text: ClassVar[str] = "JSON"
    """What the text of a key looks like, as the end of a sentence that begins with "expected"."""

    keys_are_text: ClassVar[bool] = False
    """Whether the bytes of keys are text, so that a prefix of keys can be given as text."""

    has_json_key: ClassVar[bool] = False
    """Whether a windowed key around it can be written as JSON: Spark and Python write equal JSON of keys."""

    is_pickled: ClassVar[bool] = False
    """Whether Python code sees objects where Columns see bytes."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        kinds.register(cls)

    # Bytes

    @abstractmethod
    def serialize(self, value: Any) -> bytes | None:
        """Return the bytes of `value`; raise TypeError or ValueError where it has none."""

    @abstractmethod
    def deserialize(self, data: bytes | None) -> Any:
        """Return the value of `data`; raise BadBytes where it has none."""

    # Spark

    @abstractmethod
    def spark_type(self) -> SparkType:
        """Return the type that a topology sees, for example "decimal(18,2)".

        Raises:
            NoSchema: only the Column of values knows it.
        """

    @abstractmethod
    def read_column(self, raw: Column, columns: Columns) -> Column:
        """Return the Column of values for a Column of bytes; it fails on bytes that have no value."""

    @abstractmethod
    def write_column(self, value: Column, columns: Columns, found: Any) -> Column:
        """Return the Column of bytes for a Column of values, whose type is `found` in Spark's JSON form."""

    def misfit(self, found: Any, types: SparkTypes) -> Misfit | None:
        """Return why values of the type `found` cannot be written, and the remedy; None if they can."""
        try:
            return type_misfit(type(self).__name__, types.of(self), found)
        except NoSchema:
            # Only its Column knows the type, and Spark reports what that cannot take.
            return None

    # A program

    def for_topic(self, topic: str | None, *, is_key: bool, registry: Registry | None = None) -> Serde:  # noqa: ARG002
        """Return this serde as the keys or values of a topic have it: a registry knows schemas by topic.

        Without a topic there are several. `registry` is that of serdes which name none.
        """
        return self

    def settled(self, found: Any) -> Serde | None:  # noqa: ARG002
        """Return the serde for values of the type `found`, where it is left open; None if there is none."""
        return self

    def python_record(self) -> type | None:
        """Return the dataclass that Python code sees values as; None where it sees Spark's own."""
        return None

    def lacks_topic(self, *, is_read: bool) -> bool:  # noqa: ARG002
        """Return whether a schema is still to be found by a topic that is not known."""
        return False

    # Changelogs and replicas

    def for_changelog(self) -> Serde | None:
        """Return this serde as a changelog has it, or None where the type is to choose one."""
        return self

    def log_form(self, found: Any) -> str | None:  # noqa: ARG002
        """Return the name of the object's member that a changelog wraps values of a type in, if it does."""
        return None

    def as_stored(self, found: Any | None, types: SparkTypes) -> Serde:  # noqa: ARG002
        """Return the serde that reads the same bytes as plain Python values: structs as dicts.

        `found` is the type that was written; without it the serde's own counts.
        """
        return self

    def canonical(self) -> Serde | None:
        """Return the serde that writes equal keys as equal bytes; None where this one does."""
        return None

    def asks_registry(self) -> bool:
        """Return whether reading or writing may wait for a schema registry."""
        return False

    # Other processes

    def parameters(self) -> Mapping[str, Any]:
        """Return what the class is to be called with, as JSON: the fields of a dataclass by default."""
        return kinds.fields_of(self)

    def describe(self) -> dict[str, Any]:
        """Return a JSON object from which another process makes an equal serde.

        Raises:
            UnsupportedError: another process could not make it.
        """
        return kinds.describe_class(self)

    @classmethod
    def from_description(cls, found: Mapping[str, Any], *, registry: Registry | None = None) -> Serde:
        """Return the serde that `describe` described; `registry` knows its login."""
        return cls(**kinds.read_parameters(found.get("parameters", {}), registry=registry))

    # Text and JSON

    def key_from_text(self, text: str) -> Any:
        """Return the key that a URL or a command line names; raise ValueError for a text that is none.

        By default it is JSON, or the text itself where that is a key.
        """
        try:
            key = self.from_json_value(from_json(text.encode()))
            self.serialize(key)
        except (BadBytes, TypeError, ValueError, AttributeError) as error:
            try:
                self.serialize(text)
            except (TypeError, ValueError, AttributeError):
                raise ValueError(str(error)) from None
            return text
        return key

    def value_from_text(self, text: str) -> Any:
        """Return the value of a line of text; by default the key of that text."""
        return self.key_from_text(text)

    def from_json_value(self, parsed: Any) -> Any:
        """Return the key or value for parsed JSON: the inverse of `json_value`."""
        return parsed

    def key_to_json(self, key: Any) -> bytes:
        """Return the key as the JSON that Spark writes of it; only for a serde with `has_json_key`."""
        return to_json(key)

    @property
    def parse_float(self) -> Callable[[str], Any]:
        """How `from_json_value` expects the numbers with a fraction."""
        return float

    def key_to_text(self, key: Any) -> str:
        """Return the text that `key_from_text` reads as this key."""
        text = json_of(self.json_value(key)).decode()
        return str(json.loads(text)) if text.startswith('"') else text

    def prefix_from_text(self, text: str) -> str | bytes:
        """Return the prefix of serialised keys: the text, or hexadecimal digits if keys are not text."""
        if self.keys_are_text:
            return text
        try:
            return bytes.fromhex(matching(_HEX, text)[2:])
        except ValueError as error:
            raise ValueError(
                "the prefix does not fit: expected the first bytes of keys as 0x and hexadecimal digits, "
                f"found {error}"
            ) from None

    def json_value(self, value: Any) -> Any:
        """Return a value as JSON shows it: text, a number, a bool, a list, a dict or None."""
        return value

    def stores_json(self) -> bool:
        """Return whether the bytes are the JSON that answers show."""
        return False

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of values as answers show them, as far as it is known without a network."""
        try:
            return schema_of_type(form_of(self.spark_type()))
        except NoSchema:
            return ANY

    def key_json_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of keys as a URL has them."""
        return {"type": "string"}


def matching(pattern: re.Pattern[str], text: str) -> str:
    """Return `text` if all of it is what the pattern says; raise ValueError with what was found."""
    if pattern.fullmatch(text) is None:
        raise ValueError(repr(text[:_SHOWN]))
    return text
