"""Stands for the JVM: keeps state in dictionaries, feeds batches to a worker, and checks its answers.

The worker is the real one, in the process of the test. Everything passes through the form of the wire.
"""

from __future__ import annotations

import marshal
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from brookmere.worker.protocol.channel import encoded
from brookmere.worker.protocol.server import Server
from brookmere.worker.protocol.stage_code import Child, NodeCode, StageCode, StoreCode, TypeCode, Work

STRING = TypeCode('"string"')
LONG = TypeCode('"long"')
TICKS = 2**31 - 1
OUTSIDE = 100
"""The number of the node behind the stage to which `stage_of` sends everything."""


@dataclass(frozen=True, slots=True)
class Fed:
    """A row for a node. Rows of one root record have the same source and seq; None gives each its own."""

    key: Any
    value: Any
    ts: int = 0
    node: int = 0
    headers: Any = None
    source: int = 0
    seq: int | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """An output: key and value are as the wire has them, the input row's own where that was said."""

    key: Any
    value: Any
    ts: int
    headers: Any = None
    node: int = 0
    to: int = -1
    row: int = 0


@dataclass(slots=True)
class Answer:
    """All that came back in a batch."""

    sent: list[Sent] = field(default_factory=list)
    errors: list[tuple[Any, ...]] = field(default_factory=list)
    counts: dict[int, list[int]] = field(default_factory=dict)
    flags: list[int] = field(default_factory=list)

    @property
    def values(self) -> list[Any]:
        """The values that were sent."""
        return [sent.value for sent in self.sent]

    @property
    def pairs(self) -> list[tuple[Any, Any]]:
        """The keys and values that were sent."""
        return [(sent.key, sent.value) for sent in self.sent]


class WorkerFailedError(Exception):
    """The worker said that it cannot go on."""


class Jvm:
    """The kernel's side of a stage: `batch` feeds rows to a task, `restart` loses the worker."""

    def __init__(self, code: StageCode) -> None:
        self.code = code
        self.rows: dict[tuple[int, int], dict[Any, Any]] = {}
        self.clocks: dict[int, dict[str, int]] = {}
        self.questions: list[tuple[Any, ...]] = []
        self.heard: list[BaseException] = []
        self.wall: int | None = None
        self._seq = 0
        self.restart()

    def restart(self) -> None:
        """Begin with a new worker, which knows nothing."""
        self._messages: deque[tuple[str, Any]] = deque()
        self._results: list[tuple[str, Any]] = []
        self._task = 0
        self._known: set[int] = set()
        self.server = Server(self, {self.code.stage: self.code}, self.heard.append)

    def forget(self) -> None:
        """Have the worker forget what it knows, as if the state had moved on without it."""
        self._known.clear()

    # The channel, from the worker's side

    def receive(self) -> tuple[str, Any] | None:
        """Give the worker its next message."""
        return self._messages.popleft() if self._messages else None

    def send(self, kind: str, payload: Any) -> None:
        """Take what the worker sends."""
        payload = marshal.loads(encoded(payload))
        if kind == "S":
            changes, *question = payload
            self._apply(changes)
            self.questions.append(tuple(question))
            self._messages.appendleft(("A", marshal.loads(marshal.dumps(self._answer(*question)))))
        else:
            self._results.append((kind, payload))

    # What tests use

    def batch(self, *rows: Fed | tuple[Any, ...], task: int = 0, cut: int | None = None) -> Answer:
        """Feed rows as one batch, in chunks of `cut` rows, and return what came back."""
        fed = [row if isinstance(row, Fed) else Fed(*row) for row in rows]
        cut = cut or max(1, len(fed))
        chunks = [fed[at : at + cut] for at in range(0, len(fed), cut)]
        self.begin(task)
        answer = Answer()
        for chunk in chunks:
            result = self._exchange("C", (self.code.stage, task, *self._columns(chunk)))
            self._take(answer, result, chunk)
        result = self._exchange("E", (self.code.stage, task))
        self._take(answer, result, [])
        self.clocks[task].update(result[11])
        return answer

    def begin(self, task: int = 0) -> None:
        """Begin a batch of a task."""
        fresh = task not in self._known
        self._known.add(task)
        self._task = task
        clocks = dict(self.clocks.setdefault(task, {}))
        self._messages.append(("B", (self.code.stage, task, fresh, clocks, self.wall)))
        self._run()

    def content(self, store: int = 0, task: int = 0) -> dict[Any, Any]:
        """Return what the JVM keeps of a store: key -> value, or key -> {(time, number): value}."""
        rows = self.rows.get((task, store), {})
        if self.code.stores[store].kind == "key_value":
            return {key: value for key, (_, value, _) in rows.items()}
        return {
            key: {at: value for at, (value, _) in group.items()} for key, (_, group) in rows.items() if group
        }

    def put(self, store: int, key: Any, value: Any, ts: int = 0, task: int = 0) -> None:
        """Put a row into a key-value store, as if it had been there for long."""
        self.rows.setdefault((task, store), {})[_frozen(key)] = (key, value, ts)

    # The rest

    def _exchange(self, kind: str, payload: Any) -> Any:
        self._messages.append((kind, payload))
        self._run()
        assert self._results, f"no answer to {kind}"
        answered, result = self._results.pop()
        assert not self._results
        assert answered == "R"
        return result

    def _run(self) -> None:
        self.server.run()
        for kind, payload in self._results:
            if kind == "X":
                self._results.clear()
                raise WorkerFailedError(payload)

    def _columns(self, rows: Sequence[Fed]) -> tuple[Any, ...]:
        nodes: Any = [row.node for row in rows]
        if len(set(nodes)) == 1:
            nodes = nodes[0]
        headers = [row.headers for row in rows] if any(row.headers for row in rows) else None
        seqs = []
        for row in rows:
            self._seq += row.seq is None
            seqs.append(self._seq if row.seq is None else row.seq)
        columns = [[row.key for row in rows], [row.value for row in rows], [row.ts for row in rows]]
        wire = (nodes, *columns, headers, [row.source for row in rows], seqs)
        return tuple(marshal.loads(marshal.dumps(wire)))

    def _take(self, answer: Answer, result: Any, rows: Sequence[Fed]) -> None:
        numbers, nodes, to, flags, keys, values, times, headers, errors, changes, counts, _ = result
        assert numbers == sorted(numbers)
        assert len(numbers) == len(flags) == len(keys) == len(values) == len(times)
        sends_table = {node.number for node in self.code.nodes if node.sends_table}
        for at, number in enumerate(numbers):
            row = rows[number] if rows else None
            key, value = keys[at], values[at]
            if flags[at] & 1:
                assert row is not None
                key = row.key
            if flags[at] & 2:
                assert row is not None
                value = row.value
            heads = headers[at] if headers is not None else 0
            if heads == 0:
                heads = row.headers if row is not None else None
            node = nodes if isinstance(nodes, int) else nodes[at]
            assert (node in sends_table) == (type(value) is tuple and node in sends_table)
            answer.sent.append(
                Sent(key, value, times[at], heads, node, to if isinstance(to, int) else to[at], number)
            )
        answer.flags += flags
        answer.errors += errors
        for at in range(0, len(counts), 5):
            before = answer.counts.setdefault(counts[at], [0] * 4)
            answer.counts[counts[at]] = [a + b for a, b in zip(before, counts[at + 1 : at + 5], strict=True)]
        self._apply(changes)

    def _apply(self, changes: Iterable[Any]) -> None:
        for store, *columns in changes:
            rows = self.rows.setdefault((self._task, store), {})
            if self.code.stores[store].kind == "key_value":
                for key, value, ts in zip(*columns, strict=True):
                    if value is None:
                        rows.pop(_frozen(key), None)
                    else:
                        rows[_frozen(key)] = (key, value, ts)
                continue
            is_versioned = self.code.stores[store].kind == "versioned"
            clock = f"store:{self.code.stores[store].name}"
            clocks = self.clocks.setdefault(self._task, {})
            for key, time, number, value, ts in zip(*columns, strict=True):
                group = rows.setdefault(_frozen(key), (key, {}))[1]
                clocks[clock] = max(clocks.get(clock, -1), time)
                if value is None and not is_versioned:
                    group.pop((time, number), None)
                else:
                    group[time, number] = (value, ts)

    def _answer(self, question: str, store: int, *details: Any) -> Any:
        rows = self.rows.get((self._task, store), {})
        is_plain = self.code.stores[store].kind == "key_value"
        match question, details:
            case "count", ():
                return len(rows)
            case "get", (keys,) if is_plain:
                return [rows[_frozen(key)][1:] if _frozen(key) in rows else None for key in keys]
            case "get", (keys,):
                groups = [rows.get(_frozen(key), (key, {}))[1] for key in keys]
                return [[(*at, value, ts) for at, (value, ts) in sorted(group.items())] for group in groups]
            case "scan", (lower, upper, prefix, reverse):
                found = sorted(rows.values(), key=lambda row: _order(row[0]), reverse=reverse)
                found = [row for row in found if _is_in(row[0], lower, upper, prefix)]
                return [row[0] for row in found], [row[1] for row in found], [row[2] for row in found]
            case "scan_times", (low, high, lower, upper, reverse):
                flat = [
                    (key, *at, *row)
                    for key, group in rows.values()
                    if _is_in(key, lower, upper, None)
                    for at, row in group.items()
                    if low <= at[0] <= high
                ]
                flat.sort(key=lambda r: (_order(r[0]), *r[1:3]))
                flat = flat[::-1] if reverse else flat
                return [[row[at] for row in flat] for at in range(5)]
        raise AssertionError(f"a question that there is not: {question} {details}")


def stage_of(
    work: Work,
    *stores: StoreCode,
    key: TypeCode | None = STRING,
    value: TypeCode | None = LONG,
    out_key: TypeCode | None = STRING,
    out_value: TypeCode | None = LONG,
    topics: tuple[str, ...] = ("topic",),
    **more: Any,
) -> StageCode:
    """Return a stage of one node, number 0, which sends to one child outside."""
    node = NodeCode(
        0,
        "node",
        work,
        key,
        value,
        out_key,
        out_value,
        children=more.pop("children", (Child("behind", OUTSIDE),)),
        stores=tuple(store.name for store in stores),
        moves_time=True,
        **more,
    )
    return StageCode(1, (node,), stores, topics, "app")


def _frozen(key: Any) -> Any:
    if isinstance(key, dict):
        return tuple(_frozen(part) for part in key.values())
    return tuple(map(_frozen, key)) if isinstance(key, list | tuple) else key


def _order(key: Any) -> Any:
    return key.encode() if isinstance(key, str) else _frozen(key)


def _is_in(key: Any, lower: Any, upper: Any, prefix: Any) -> bool:
    if lower is not None and _order(key) < _order(lower):
        return False
    if upper is not None and _order(key) > _order(upper):
        return False
    return prefix is None or key.startswith(prefix)
