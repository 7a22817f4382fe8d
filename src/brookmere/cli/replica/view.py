"""Turns how the stores of a replica are into lines: live on a terminal, else one after the other."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from brookmere.cli.terminal import console
from brookmere.state import Position, StoreStatus
from brookmere.state.description.status import QueryableStatus

NUMBERS = ("ROWS", "SIZE", "LAG")
_LINE_SECONDS = 5.0
_SHOWN_PARTITIONS = 4
_NEVER = -1
_STYLES = {
    "ready": "green", "starting": "yellow", "catching up": "yellow", "waiting": "yellow", "failing": "red"
}  # fmt: skip


def condition(store: StoreStatus) -> str:
    """Return in a word or two how a store is."""
    if store.is_waiting:
        return "waiting"
    if store.error is not None:
        return "failing"
    if store.checked_at == _NEVER:
        return "starting"
    return "ready" if store.is_ready else "catching up"


def position_text(position: Position) -> str:
    """Return offsets by partition, or how far many partitions are together.

    >>> position_text(Position({"clicks": {0: 17, 1: 2000}}))
    '0:17 1:2,000'
    """
    offsets = {partition: at for of_topic in position.values() for partition, at in of_topic.items()}
    if len(offsets) > _SHOWN_PARTITIONS:
        return f"{sum(offsets.values()):,} in {len(offsets)} partitions"
    return " ".join(f"{partition}:{at:,}" for partition, at in offsets.items()) or "-"


def trouble(store: StoreStatus) -> str | None:
    """Return what keeps a store from following, for people."""
    if store.is_waiting:
        return (
            f"{store.name} waits for the topic {store.topic}, which the application creates when it starts."
        )
    return None if store.error is None else f"{store.name}: {store.error}"


def line(store: StoreStatus) -> str:
    """Return how a store is in one line."""
    return (
        f"{store.name}: {condition(store)} · {console.counted(store.entries, 'row')} · lag {store.lag:,} · "
        f"position {position_text(store.position)}"
    )


class ReplicaView:
    """Shows nothing."""

    def screen(self) -> AbstractContextManager[object]:
        """Return what holds while the view is shown."""
        return nullcontext()

    def show(self, stores: list[StoreStatus]) -> None:
        """Show how the stores are now."""


@dataclass(slots=True)
class PlainReplicaView(ReplicaView):
    """Writes a line when a store changes its condition, and every few seconds when it moves."""

    _conditions: dict[str, str] = field(default_factory=dict)
    _told: dict[str, str] = field(default_factory=dict)
    _next: float = 0.0

    def show(self, stores: list[StoreStatus]) -> None:
        is_time = time.monotonic() >= self._next
        for store in stores:
            word = trouble(store) or condition(store)
            text = trouble(store) or line(store)
            if word != self._conditions.get(store.name) or (is_time and text != self._told.get(store.name)):
                console.say(text)
                self._conditions[store.name] = word
                self._told[store.name] = text
                self._next = time.monotonic() + _LINE_SECONDS


@dataclass(slots=True)
class LiveReplicaView(ReplicaView):
    """Keeps a table at the foot of the terminal up to date."""

    _live: Live | None = None

    def screen(self) -> AbstractContextManager[object]:
        self._live = Live(console=console.err, auto_refresh=False, redirect_stdout=console.out.is_terminal)
        return self._live

    def show(self, stores: list[StoreStatus]) -> None:
        if self._live is None:
            return
        troubles = [Text(words, style="yellow") for words in map(trouble, stores) if words]
        self._live.update(Group(store_table(stores), *troubles), refresh=True)


def store_table(stores: list[StoreStatus]) -> Table:
    """Return a table with a row for each store."""
    rows = console.table("STORE", "KIND", *NUMBERS, "POSITION", "STATE", numbers=NUMBERS)
    for store in stores:
        word = condition(store)
        rows.add_row(*cells(store), position_text(store.position), Text(word, style=_STYLES[word]))
    return rows


def cells(store: StoreStatus | QueryableStatus) -> list[str]:
    """Return the name, the kind and the numbers of a store."""
    kind = store.kind.replace("_", "-")
    return [store.name, kind, f"{store.entries:,}", console.size(store.bytes), f"{store.lag:,}"]
