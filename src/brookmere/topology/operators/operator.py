"""The base class of all operators, and the facts that each of them states about itself.

The DSL, the planner and the compiler ask an operator for these facts instead of listing its class. None of
them has a default in `Operator`: a class states each fact itself or takes it from one of the mixins below.
tests/topology/test_operator_facts.py names every class that lacks one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import Field, fields, replace
from typing import Any, ClassVar, Protocol, Self
from typing import Literal as OneOf

from brookmere.topology.python_code import PythonFunction

Flow = OneOf["records", "changes", "either"]
"""What travels along an edge of the topology.

A record is (key, value), a change is (key, new value, old value). Some operators forward either as it comes.
"""

Rows = OneOf["none", "own store", "own store or parents", "parents", "own store and parents"]
"""Where the rows and the old values of an operator's table come from.

"own store or parents": the operator computes them from the tables above it if it has no store.
"none": the operator is not a table.
"""

NAME = {"role": "name"}
"""Metadata of a field that holds a name, which may change while the operator stays the same."""
DERIVED = {"role": "derived"}
"""Metadata of a field whose value follows from the nodes around the operator."""


class Operator(ABC):
    """What a processor of the topology does with a record; one frozen dataclass per meaning."""

    __slots__ = ()

    keeps_key: ClassVar[bool]
    """Whether results have the key of the record they come from, possibly with a window around it."""
    keeps_value: ClassVar[bool]
    """Whether results have the value of the record they come from."""
    takes: ClassVar[Flow]
    sends: ClassVar[Flow]
    rows: ClassVar[Rows]
    has_timers: ClassVar[bool]
    """Whether user code may schedule calls and hold variables, both of which belong to a task."""

    @property
    @abstractmethod
    def kept_stores(self) -> tuple[str, ...]:
        """The stores that it writes, or shares with another operator of the same join."""

    @property
    @abstractmethod
    def shared_store(self) -> str | None:
        """The one of `kept_stores` that another operator fills and this one only reads."""

    @property
    @abstractmethod
    def read_stores(self) -> tuple[str, ...]:
        """The stores of tables that it reads by name; the planner may give it copies."""

    @property
    @abstractmethod
    def lookup_table(self) -> str | None:
        """The node whose table it looks rows up in; the planner may give it a copy."""

    @property
    @abstractmethod
    def idle_after_ms(self) -> int | None:
        """How long no record may arrive before its stream time follows the wall clock."""

    @property
    def sends_old_values(self) -> bool:
        """Whether its changes carry the old value."""
        return bool(getattr(self, "send_old", False))

    def with_old_values(self) -> Self:
        """Return the operator with `send_old` set, a field that every table with rows of its own has."""
        own: Any = self
        made: Self = replace(own, send_old=True)
        return made

    @property
    def details(self) -> list[str]:
        """What `explain` shows after the operator's name, apart from its Python functions."""
        return []

    @property
    def text(self) -> str:
        """What `explain` shows of the operator."""
        functions = self.python_functions
        names = [function.name for function in functions]
        calls = [how for function in functions for how in function.call_details]
        details = [*self.details, *dict.fromkeys([*names, *calls])]
        name = type(self).__name__
        return f"{name}: {', '.join(details)}" if details else name

    @property
    def python_functions(self) -> list[PythonFunction]:
        """The functions that run in the Python worker."""
        return [part for part in self._parts() if isinstance(part, PythonFunction)]

    @property
    def is_python(self) -> bool:
        """Whether it runs in the Python worker instead of the kernel."""
        return bool(self.python_functions)

    def _parts(self) -> Iterator[object]:
        """Yield the values of the fields, those of tuples one by one."""
        own: Any = self
        for part in fields(own):
            value = getattr(self, part.name)
            yield from value if isinstance(value, tuple) else (value,)


class StreamStep(Operator):
    """Takes records and sends records."""

    __slots__ = ()
    takes = "records"
    sends = "records"
    rows = "none"


class IntoTable(Operator):
    """Takes records and sends the changes of a table."""

    __slots__ = ()
    takes = "records"
    sends = "changes"


class TableStep(Operator):
    """Takes the changes of a table and sends those of another."""

    __slots__ = ()
    takes = "changes"
    sends = "changes"


class FromTable(Operator):
    """Takes the changes of a table and sends records."""

    __slots__ = ()
    takes = "changes"
    sends = "records"
    rows = "none"


class Stateless(Operator):
    """Keeps no store."""

    __slots__ = ()

    @property
    def kept_stores(self) -> tuple[str, ...]:
        return ()


class _HasStore(Protocol):
    @property
    def store(self) -> str | None: ...


class KeepsStore(Operator):
    """Keeps the store that its field `store` names; none if that is None."""

    __slots__ = ()

    @property
    def kept_stores(self: _HasStore) -> tuple[str, ...]:
        return () if self.store is None else (self.store,)


class LooksUpRows(Operator):
    """Reads rows of the table that `lookup_table` names, and no other state of other operators."""

    __slots__ = ()

    @property
    def shared_store(self) -> str | None:
        return None

    @property
    def read_stores(self) -> tuple[str, ...]:
        return ()


class SharesStore(Operator):
    """Reads the store that `shared_store` names, and no other state of other operators."""

    __slots__ = ()

    @property
    def read_stores(self) -> tuple[str, ...]:
        return ()

    @property
    def lookup_table(self) -> str | None:
        return None


class ReadsNothing(Operator):
    """Reads no state of other operators."""

    __slots__ = ()

    @property
    def shared_store(self) -> str | None:
        return None

    @property
    def read_stores(self) -> tuple[str, ...]:
        return ()

    @property
    def lookup_table(self) -> str | None:
        return None


class EventTimeOnly(Operator):
    """Does nothing between two records, however long that is."""

    __slots__ = ()
    has_timers = False

    @property
    def idle_after_ms(self) -> int | None:
        return None


def is_identity(part: Field[Any]) -> bool:
    """Return whether a field is part of what an operator is, independent of names and of its neighbours."""
    return part.compare and "role" not in part.metadata
