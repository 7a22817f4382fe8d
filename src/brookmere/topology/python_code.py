"""Says what of a topology is Python code that runs beside the stream, and not a Column of the kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Literal

from brookmere.topology.function import Location
from brookmere.worker.functions.calls import AsyncCalls

if TYPE_CHECKING:
    from brookmere.topology.nodes import Node


@dataclass(frozen=True, slots=True)
class PythonFunction:
    """A user's function over Python values, called in the worker for every record.

    Two functions are equal when they come from the same line, have the same code and are called alike.
    """

    role: str
    location: Location
    fingerprint: tuple[object, ...]
    call: Callable[..., Any] = field(compare=False, repr=False)
    returns: object | None = None
    """The type of the result as the user has told it."""
    batch: Literal["arrow", "pandas"] | None = None
    asynchronous: AsyncCalls | None = None
    is_factory: bool = False
    """The call makes the function, once per process."""


@dataclass(frozen=True, slots=True)
class Process:
    """Hands every record to a processor that the supplier makes, one for each task."""

    supplier: Callable[[], Any] = field(compare=False, repr=False)
    fixed_key: bool
    key: object | None
    value: object | None
    """The types of what is forwarded as the user has told them; None leaves them as they came."""
    location: Location
    fingerprint: tuple[object, ...]
    reads: tuple[str, ...] = ()
    """Those of its stores that it only reads, because a table keeps them."""


def is_python(node: Node) -> bool:
    """Tell whether a node runs in the worker."""
    operator = getattr(node, "operator", None)
    if isinstance(operator, Process) or getattr(operator, "in_python", False):
        return True
    return any(isinstance(part, PythonFunction) for part in parts(operator))


def takes_many(node: Node) -> bool:
    """Tell whether a Python node computes many records at once: in batches, or while others wait."""
    functions = [p for p in parts(getattr(node, "operator", None)) if isinstance(p, PythonFunction)]
    return any(f.batch is not None or f.asynchronous is not None for f in functions)


def parts(operator: object) -> Iterator[object]:
    """Yield what the fields of an operator hold, those of tuples one by one."""
    if not is_dataclass(operator):
        return
    for part in fields(operator):
        value = getattr(operator, part.name)
        yield from value if isinstance(value, tuple) else (value,)
