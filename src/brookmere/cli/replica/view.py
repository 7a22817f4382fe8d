"""Views of a replica's stores: live on a terminal, else line by line."""

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
    """Return the condition of a store in a word or two."""
    if store.is_waiting:
        return "waiting"
    if store.error is not None:
        return "failing"
    if store.checked_at == _NEVER:
        return "starting"
    return "ready" if store.is_ready else "catching up"


def position_text(position: Position) -> str:
    """Return the offset of each partition, or their sum if there are many.

    >>> position_text(Position({"clicks": {0: 17, 1: 2000}}))
    '0:17 1:2,000'
    """
    offsets = {partition: at for of_topic in position.values() for partition, at in of_topic.items()}
    if len(offsets) > _SHOWN_PARTITIONS:
        return f"{sum(offsets.values()):,} in {len(offsets)} partitions"
    return " ".join(f"{partition}:{at:,}" for partition, at in offsets.items()) or "-"


def trouble(store: StoreStatus) -> str | None:
    """Return a message about what keeps a store from following its changelog."""
    if store.is_waiting:
        return (
            f"{store.name} is waiting for the topic {store.topic}, which the application creates when "
            "it starts."
        )
    return None if store.error is None else f"{store.name}: {store.error}"


def line(store: StoreStatus) -> str:
    """Return a one-line summary of a store."""
    return (
        f"{store.name}: {condition(store)} · {console.counted(store.entries, 'row')} · lag {store.lag:,} · "
        f"position {position_text(store.position)}"
    )


class ReplicaView:
    """A view that shows nothing, and the interface of the others."""

    def screen(self) -> AbstractContextManager[object]:
        """Return the context in which the view is visible."""
        return nullcontext()

    def show(self, stores: list[StoreStatus]) -> None:
        """Show the current status of the stores."""


@dataclass(slots=True)
class PlainReplicaView(ReplicaView):
    """Writes a line when the condition of a store changes, and every few seconds while it advances."""

    _conditions: dict[str, str] = field(default_factory=dict)
    _last_lines: dict[str, str] = field(default_factory=dict)
    _next: float = 0.0

    def show(self, stores: list[StoreStatus]) -> None:
        is_time = time.monotonic() >= self._next
        for store in stores:
            word = trouble(store) or condition(store)
            text = trouble(store) or line(store)
            if word != self._conditions.get(store.name) or (
                is_time and text != self._last_lines.get(store.name)
            ):
                console.say(text)
                self._conditions[store.name] = word
                self._last_lines[store.name] = text
                self._next = time.monotonic() + _LINE_SECONDS


@dataclass(slots=True)
class LiveReplicaView(ReplicaView):
    """Updates a table at the bottom of the terminal."""

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
