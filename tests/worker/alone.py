"""Runs a single node of the worker over records, as a task would, and collects what it sends."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from brookmere.worker.code import KEEP, SAME, Child, NodeCode, Running, TypeCode, Work
from brookmere.worker.stores.entries import Entry
from brookmere.worker.types import reader, writer

TEXT = TypeCode(json.dumps("string"))
LONG = TypeCode(json.dumps("long"))


class Alone:
    """A node without neighbours: its task, its way out, and what came out."""

    def __init__(self, work: Work, *, children: Sequence[str] = (), **types: Any) -> None:
        given = {"key": TEXT, "value": TEXT, "out_key": TEXT, "out_value": TEXT, **types}
        named = tuple(Child(name, number) for number, name in enumerate(children))
        self.node = NodeCode(7, "NODE", work, children=named, **given)
        self.sent: list[tuple[Any, ...]] = []
        self.errors: list[tuple[int, Exception]] = []
        self.dropped = 0
        self.last_per_batch = False
        self.row = SimpleNamespace(headers=SAME)
        self._store = Rows()
        self._shared: dict[str, Any] = {}
        self._once: dict[Any, Any] = {}
        self._row: tuple[Any, Any] = (None, None)
        self._reads = (reader(self.node.key) or _same, reader(self.node.value) or _same)
        self._running: Running | None = None

    @property
    def running(self) -> Running:
        if self._running is None:
            self._running = self.node.work.build(self.node, self)  # type: ignore[arg-type]
        return self._running

    def receive(self, *records: tuple[Any, Any], ts: int = 5) -> list[tuple[Any, ...]]:
        """Hand over a chunk of records as they travel; return what came out of it."""
        before = len(self.sent)
        times = [ts] * len(records)
        if self.running.prepares:
            self.running.prepare([k for k, _ in records], [v for _, v in records], times, None)
        for number, (key, value) in enumerate(records):
            seen = (key, value)
            if not self.running.takes_wire:
                seen = (self._reads[0](key), self._reads[1](value))
            self._row = seen
            self._try(number, lambda seen=seen: self.running.receive(*seen, ts, SAME))
        return self.sent[before:]

    def change(self, key: Any, new: Any, old: Any, *, is_latest: bool = True) -> list[tuple[Any, ...]]:
        """Hand over a change of a table; return what came out of it."""
        before = len(self.sent)
        self._try(0, lambda: self.running.receive_change(key, new, old, 5, is_latest))
        return self.sent[before:]

    @property
    def rows(self) -> dict[Any, Any]:
        return {key: row.value for key, row in self._store.entries.items() if row.value is not None}

    def close(self) -> None:
        for made in reversed(self._once.values()):
            made.close()

    def _try(self, number: int, step: Callable[[], None]) -> None:
        try:
            step()
        except Exception as error:  # noqa: BLE001 - what fails is told, as in a task
            trace = error.__traceback__
            while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
                trace = trace.tb_next
            self.errors.append((number, error.with_traceback(trace)))

    # What a node gets from its task

    def output(self, node: NodeCode) -> Alone:
        return self

    def to(self, child: str) -> Any:
        return _ToChild(self, child)

    def store(self, name: str) -> Rows:
        return self._store

    def line(self, name: str, make: Callable[[], Any]) -> Any:
        return self._shared.setdefault(name, make())

    def once(self, factory: Callable[[], Any]) -> Any:
        if factory not in self._once:
            made = self._once[factory] = factory()
            if hasattr(made, "open"):
                made.open()
        return self._once[factory]

    def count_dropped(self, number: int, records: int = 1) -> None:
        self.dropped += records

    def forward(self, key: Any, value: Any, ts: int, headers: Any = SAME) -> None:
        key = self._row[0] if key is KEEP else _checked(self.node.out_key, key)
        value = self._row[1] if value is KEEP else _checked(self.node.out_value, value)
        self.sent.append((key, value))

    def send_wire(self, key: Any, new: Any, old: Any, ts: int, headers: Any = SAME) -> None:
        self.sent.append((key, new, old))

    def forward_change(self, key: Any, new: Any, old: Any, ts: int, headers: Any = SAME) -> None:
        for value in (new, old):
            _checked(self.node.out_value, value)
        self.sent.append((key, new, old))


class Rows:
    """The rows of a store, one per key."""

    def __init__(self) -> None:
        self.entries: dict[Any, Entry] = {}

    def entry(self, key: Any) -> Entry:
        return self.entries.setdefault(key, Entry(key, None, -1))

    def change(self, entry: Entry, value: Any, ts: int) -> None:
        if not entry.changed:
            entry.changed, entry.old = True, entry.value
        entry.value, entry.ts = value, ts


class _ToChild:
    def __init__(self, node: Alone, child: str) -> None:
        self._node = node
        self._child = child

    def forward(self, key: Any, value: Any, ts: int, headers: Any = SAME) -> None:
        self._node.sent.append((self._child, key, value))


def _checked(code: TypeCode | None, value: Any) -> Any:
    write = writer(code)
    if write is not None:
        write(value)
    return value


def _same(value: Any) -> Any:
    return value
