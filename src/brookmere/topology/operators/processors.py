"""The operator of the Processor API: code of the user's own, with stores and timers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from brookmere.topology.function import Location
from brookmere.topology.operators.operator import NAME, StreamStep
from brookmere.topology.python_code import call_name


@dataclass(frozen=True, slots=True)
class Process(StreamStep):
    """Passes every record to a processor that the supplier makes, one for each task."""

    keeps_key = False
    keeps_value = False
    has_timers = True

    supplier: Callable[[], Any] = field(compare=False, repr=False)
    fixed_key: bool
    key: object | None
    value: object | None
    """The types of what it forwards as the user declared them; None for those of the incoming records."""
    location: Location
    fingerprint: tuple[object, ...]
    keeps: tuple[str, ...] = field(default=(), metadata=NAME)
    """The stores that it writes; other processors may write them as well."""
    reads: tuple[str, ...] = field(default=(), metadata=NAME)
    """The stores that it only reads because a table keeps them."""

    @property
    def kept_stores(self) -> tuple[str, ...]:
        return self.keeps

    @property
    def shared_store(self) -> str | None:
        return None

    @property
    def read_stores(self) -> tuple[str, ...]:
        return self.reads

    @property
    def lookup_table(self) -> str | None:
        return None

    @property
    def idle_after_ms(self) -> int | None:
        return None

    @property
    def is_python(self) -> bool:
        return True

    @property
    def details(self) -> list[str]:
        return [call_name(self.supplier), *([f"reads {', '.join(self.reads)}"] if self.reads else [])]
