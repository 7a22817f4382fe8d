"""A serde made of two Column functions of the program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from brookmere.errors import Fault, TopologyError, UnsupportedError
from brookmere.serde.bad_values import BadBytes, wrong_type
from brookmere.serde.base import Serde
from brookmere.serde.columns import Column, Columns, SparkType
from brookmere.serde.structures.spark_fields import NoSchema


@dataclass(frozen=True, slots=True, init=False)
class Custom(Serde):
    """A format of the user's own.

    `decode` receives the Column of bytes and returns the Column of values, `encode` the other way;
    the kernel compiles both.
    `serialize` and `deserialize` do the same for Python values; only tests and clients need them.
    Two are equal when their names and the code of their functions are.
    """

    kind: ClassVar[str] = "custom"

    name: str
    decode: Callable[[Any], Any] = field(compare=False, repr=False)
    encode: Callable[[Any], Any] = field(compare=False, repr=False)
    to_bytes: Callable[[Any], bytes] | None = field(compare=False, repr=False)
    from_bytes: Callable[[bytes], Any] | None = field(compare=False, repr=False)
    fingerprint: tuple[object, ...] = field(repr=False)

    def __init__(
        self,
        decode: Callable[[Any], Any],
        encode: Callable[[Any], Any],
        serialize: Callable[[Any], bytes] | None = None,
        deserialize: Callable[[bytes], Any] | None = None,
        name: str = "custom",
    ) -> None:
        given = {"decode": decode, "encode": encode, "serialize": serialize, "deserialize": deserialize}
        faults = [
            Fault(
                f"{role} of the serde {name!r} is not a function: found {type(call).__name__}",
                None,
                f"Give {role}= a function.",
            )
            for role, call in given.items()
            if not callable(call) and not (call is None and role in ("serialize", "deserialize"))
        ]
        if faults:
            raise TopologyError(faults)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "decode", decode)
        object.__setattr__(self, "encode", encode)
        object.__setattr__(self, "to_bytes", serialize)
        object.__setattr__(self, "from_bytes", deserialize)
        object.__setattr__(self, "fingerprint", tuple(_fingerprint(call) for call in given.values()))

    def serialize(self, value: Any) -> bytes | None:
        if value is None:
            return None
        if self.to_bytes is None:
            raise self._one_sided("serialize")
        data: object = self.to_bytes(value)
        if not isinstance(data, bytes):
            raise wrong_type(f"serialize of the serde {self.name!r}", "bytes", data, "return bytes")
        return data

    def deserialize(self, data: bytes | None) -> Any:
        if data is None:
            return None
        if self.from_bytes is None:
            raise self._one_sided("deserialize")
        try:
            return self.from_bytes(data)
        except Exception as error:
            raise BadBytes(f"the serde {self.name!r} failed with {type(error).__name__}: {error}") from error

    def spark_type(self) -> SparkType:
        raise NoSchema(f"only decode of the serde {self.name!r} knows its type")

    def read_column(self, raw: Column, columns: Columns) -> Column:
        return columns.call(f"decode of the serde {self.name!r}", self.decode, raw)

    def write_column(self, value: Column, columns: Columns, found: Any) -> Column:  # noqa: ARG002
        return columns.call(f"encode of the serde {self.name!r}", self.encode, value)

    def describe(self) -> dict[str, Any]:
        raise UnsupportedError(
            f"The serde {self.name!r} cannot be described as JSON. "
            "Found: functions of the program. Other processes need the program itself."
        )

    def _one_sided(self, role: str) -> TopologyError:
        return TopologyError(
            [Fault(f"The serde {self.name!r} has no {role} for Python values", None, f"Give Custom {role}=.")]
        )


def _fingerprint(call: Callable[..., Any] | None) -> object:
    code = getattr(call, "__code__", None)
    # A bound method is more than its code: the object it belongs to counts.
    if code is None or hasattr(call, "__self__"):
        return call
    closure = tuple(repr(cell.cell_contents) for cell in getattr(call, "__closure__", None) or ())
    return (code, repr(getattr(call, "__defaults__", None)), closure)
