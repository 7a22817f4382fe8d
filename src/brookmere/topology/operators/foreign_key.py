"""Operators of the foreign-key join of two tables.

The left table subscribes to rows of the right one; the right table answers each subscription, at once and
whenever its row changes; the answer is joined with the left row.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from brookmere.topology.function import Function
from brookmere.topology.operators.joins import How
from brookmere.topology.operators.operator import (
    NAME,
    EventTimeOnly,
    FromTable,
    KeepsStore,
    LooksUpRows,
    ReadsNothing,
    SharesStore,
    Stateless,
    StreamStep,
)


@dataclass(frozen=True, slots=True)
class SubscriptionSend(FromTable, Stateless, ReadsNothing, EventTimeOnly):
    """Left side: subscribes each left row to the right row that it names.

    `key` takes (value) or (key, value) and returns the key of the right table.
    """

    keeps_key = False
    keeps_value = False

    key: Function
    how: How
    versioned: bool = False

    @property
    def details(self) -> list[str]:
        return [self.how]


@dataclass(frozen=True, slots=True)
class SubscriptionReceive(StreamStep, KeepsStore, ReadsNothing, EventTimeOnly):
    """Keeps which left rows have subscribed to which right row, and forwards the subscriptions."""

    keeps_key = True
    keeps_value = True

    store: str = field(metadata=NAME)


@dataclass(frozen=True, slots=True)
class SubscriptionJoin(StreamStep, Stateless, LooksUpRows, EventTimeOnly):
    """Answers a subscription with the current right row."""

    keeps_key = False
    keeps_value = False

    right: str = field(metadata=NAME)
    """The node whose table it looks rows up in."""

    @property
    def lookup_table(self) -> str | None:
        return self.right

    @property
    def details(self) -> list[str]:
        return [f"with {self.right}"]


@dataclass(frozen=True, slots=True)
class ForeignUpdate(FromTable, KeepsStore, SharesStore, EventTimeOnly):
    """Sends a change of the right table to all left rows that have subscribed to its key."""

    keeps_key = False
    keeps_value = False

    store: str = field(metadata=NAME)
    versioned: bool = False

    @property
    def shared_store(self) -> str | None:
        return self.store


@dataclass(frozen=True, slots=True)
class ResponseJoin(StreamStep, Stateless, LooksUpRows, EventTimeOnly):
    """Joins an answer with the left row, if the row still is the one that subscribed."""

    keeps_key = True
    keeps_value = False

    left: str = field(metadata=NAME)
    """The node whose table it looks rows up in."""
    how: How
    joiner: Function

    @property
    def lookup_table(self) -> str | None:
        return self.left

    @property
    def details(self) -> list[str]:
        return [f"{self.how}, with {self.left}"]
