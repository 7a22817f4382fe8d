"""Functions of a topology that run in the Python worker rather than as Columns in the kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from brookmere.topology.function import Location
from brookmere.worker.functions.calls import AsyncCalls

if TYPE_CHECKING:
    from brookmere.topology.nodes import Node

_BATCHES = {"arrow": "in Arrow batches", "pandas": "in pandas batches"}


@dataclass(frozen=True, slots=True)
class PythonFunction:
    """A user's function over Python values, called in the worker for every record.

    Two functions are equal if they are on the same line, have the same code and are called alike.
    """

    role: str
    location: Location
    fingerprint: tuple[object, ...]
    call: Callable[..., Any] = field(compare=False, repr=False)
    returns: object | None = None
    """The type of the result as the user declared it."""
    batch: Literal["arrow", "pandas"] | None = None
    asynchronous: AsyncCalls | None = None
    is_factory: bool = False
    """The call makes the function, once per process."""

    @property
    def takes_many(self) -> bool:
        """Whether it handles many records at once: in batches, or concurrently."""
        return self.batch is not None or self.asynchronous is not None

    @property
    def name(self) -> str:
        """The name that `explain` shows."""
        return call_name(self.call)

    @property
    def call_details(self) -> list[str]:
        """How it is called, where that is not record by record."""
        details = [] if self.batch is None else [_BATCHES[self.batch]]
        if self.asynchronous is not None:
            details.append(f"{self.asynchronous.concurrency} calls at once")
        return details


def call_name(call: object) -> str:
    """Return how texts name a user's function or class."""
    name = getattr(call, "__name__", type(call).__name__)
    return "a lambda" if name == "<lambda>" else f"{name}"


def is_python(node: Node) -> bool:
    """Return whether a node runs in the worker."""
    operator = getattr(node, "operator", None)
    return operator is not None and bool(operator.is_python)


def is_fold(node: Node) -> bool:
    """Return whether a node is an aggregate of the kernel whose functions run in the worker."""
    operator = getattr(node, "operator", None)
    return any(isinstance(getattr(operator, name, None), PythonFunction) for name in ("step", "adder"))


def takes_many(node: Node) -> bool:
    """Return whether a Python node handles many records at once."""
    operator = getattr(node, "operator", None)
    return operator is not None and any(function.takes_many for function in operator.python_functions)
