"""Says what every serde can do: turn Python values into the bytes of a topic, and back."""

from __future__ import annotations

import reprlib
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from brookmere.serde.registered import Registry


# The name says what was found; the error that users meet is DeserializationError.
class BadBytes(ValueError):  # noqa: N818
    """Bytes that do not decode; the message is the reason."""


class Serde(ABC):
    """How the keys or values of a topic are written as bytes. None is always None.

    A serde is a frozen value: two serdes of the same meaning are equal.
    The methods here are the Python side, for tests and clients. A running query decodes and encodes
    in the kernel, which knows a serde by its `kind`.
    """

    __slots__ = ()

    kind: ClassVar[str]

    @abstractmethod
    def serialize(self, value: Any) -> bytes | None:
        """Return the bytes of `value`; raise TypeError or ValueError where it has none."""

    @abstractmethod
    def deserialize(self, data: bytes | None) -> Any:
        """Return the value of `data`; raise BadBytes where it has none."""

    def for_topic(self, topic: str | None, *, is_key: bool, registry: Registry | None = None) -> Serde:  # noqa: ARG002
        """Return this serde as the keys or values of a topic have it: a registry knows schemas by topic.

        Without a topic there are several. `registry` is that of serdes which name none.
        """
        return self


def wrong_type(serde: str, expected: str, found: object, remedy: str) -> TypeError:
    """Return the error for a Python value that a serde cannot write."""
    return TypeError(
        f"{serde} writes {expected}, found {type(found).__name__} {reprlib.repr(found)}; {remedy}"
    )
