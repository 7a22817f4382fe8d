"""Builds the outputs of nodes: rows for children outside the stage, calls for those inside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brookmere.worker.protocol.stage_code import KEEP, SAME
from brookmere.worker.stores.store import is_scalar
from brookmere.worker.task.collector import FORWARDED, RECEIVED, listed
from brookmere.worker.task.failures import FAILURES
from brookmere.worker.task.output import Output
from brookmere.worker.types.python_values import reader, writer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from brookmere.record import Header
    from brookmere.worker.protocol.stage_code import Child, NodeCode, Running, StageCode, TypeCode
    from brookmere.worker.task.collector import Collector
    from brookmere.worker.task.output import Forward, ForwardChange
    from brookmere.worker.task.row import Row
    from brookmere.worker.types.python_values import Convert

ALL = -1


class Ways:
    """Builds the outputs of the nodes of a stage on one task."""

    def __init__(
        self,
        code: StageCode,
        row: Row,
        collector: Collector,
        runnings: dict[int, Running],
        fail: Callable[[NodeCode, BaseException], None],
    ) -> None:
        self._nodes = {node.number: node for node in code.nodes}
        self._row = row
        self._collector = collector
        self._runnings = runnings
        self._fail = fail

    def output(self, node: NodeCode) -> Output:
        """Return the output of a node to all its children, in order."""
        has_inside = any(child.inside for child in node.children)
        if not has_inside and node.children:
            return self._faces(node, [self._outside(node, ALL)])
        return self._faces(node, [self._way(node, child) for child in node.children])

    def _to(self, node: NodeCode, name: str) -> Output:
        children = [child for child in node.children if child.name == name]
        return self._faces(node, [self._way(node, child) for child in children[:1]])

    def _way(self, node: NodeCode, child: Child) -> tuple[Forward, ForwardChange, ForwardChange]:
        if child.inside:
            return self._inside(node, self._nodes[child.number])
        return self._outside(node, ALL if len(node.children) == 1 else child.number)

    def _faces(self, node: NodeCode, ways: Sequence[tuple[Forward, ForwardChange, ForwardChange]]) -> Output:
        if len(ways) == 1:
            forward, change, wire = ways[0]
        else:
            forward = _each([way[0] for way in ways])
            change = _each_change([way[1] for way in ways])
            wire = _each_change([way[2] for way in ways])
        return Output(forward, change, wire, lambda name: self._to(node, name))

    def _outside(self, node: NodeCode, to: int) -> tuple[Forward, ForwardChange, ForwardChange]:
        """Return the functions that turn outputs of a node into rows."""
        row = self._row
        add = self._appender(node, to)
        send_key = writer(node.out_key, "the key") or _same
        send_value = writer(node.out_value, "the value") or _same
        # The JVM then takes the key or value from the input row, so the types must be equal and immutable.
        has_key = self._passes(node.out_key, lambda entry: entry.key)
        has_value = not node.is_table and self._passes(node.out_value, lambda entry: entry.value)

        def forward(key: Any, value: Any, ts: int, headers: tuple[Header, ...] = SAME) -> None:
            flag = 0
            if (key is row.key and has_key) or key is KEEP:
                key = None
                flag = 1
            else:
                key = send_key(key)
            if (value is row.value and has_value) or value is KEEP:
                value = None
                flag |= 2
            else:
                value = send_value(value)
            add(flag, key, value, ts, headers)

        if self._collector.is_of_one:
            forward = self._quick_forward(send_key, send_value, has_key, has_value)

        def change(key: Any, new: Any, old: Any, ts: int, headers: tuple[Header, ...] = SAME) -> None:
            wire(key, send_value(new), send_value(old), ts, headers)

        def wire(key: Any, new: Any, old: Any, ts: int, headers: tuple[Header, ...] = SAME) -> None:
            if (key is row.key and has_key) or key is KEEP:
                add(1, None, (new, old), ts, headers)
            else:
                add(0, send_key(key), (new, old), ts, headers)

        return forward, change, wire

    def _quick_forward(
        self, send_key: Callable[[Any], Any], send_value: Callable[[Any], Any], has_key: bool, has_value: bool
    ) -> Forward:
        """Return `forward` and `add` in one function: most stages have a single node that sends."""
        row = self._row
        collector = self._collector
        rows, headers_of = collector.rows, collector.headers
        add_row, add_flag = rows.append, collector.flags.append
        add_key, add_value, add_time = collector.keys.append, collector.values.append, collector.times.append

        def forward(key: Any, value: Any, ts: int, headers: tuple[Header, ...] = SAME) -> None:
            flag = 0
            if (key is row.key and has_key) or key is KEEP:
                key = None
                flag = 1
            else:
                key = send_key(key)
            if (value is row.value and has_value) or value is KEEP:
                value = None
                flag |= 2
            else:
                value = send_value(value)
            if headers is SAME:
                headers = row.headers
            if headers is not row.own_headers:
                headers_of[len(rows)] = listed(headers)
            add_row(row.number)
            add_flag(flag)
            add_key(key)
            add_value(value)
            add_time(ts)

        return forward

    def _appender(self, node: NodeCode, to: int) -> Callable[[int, Any, Any, int, Any], None]:
        row = self._row
        collector = self._collector
        rows, headers_of = collector.rows, collector.headers
        add_row, add_flag = rows.append, collector.flags.append
        add_key, add_value, add_time = collector.keys.append, collector.values.append, collector.times.append
        add_node, add_to = collector.nodes.append, collector.to.append
        number = node.number

        def add(flag: int, key: Any, value: Any, ts: int, headers: Any) -> None:
            if headers is SAME:
                headers = row.headers
            if headers is not row.own_headers:
                headers_of[len(rows)] = listed(headers)
            add_row(row.number)
            add_flag(flag)
            add_key(key)
            add_value(value)
            add_time(ts)

        def add_sender(flag: int, key: Any, value: Any, ts: int, headers: Any) -> None:
            add(flag, key, value, ts, headers)
            add_node(number)
            add_to(to)

        return add if collector.is_of_one else add_sender

    def _inside(self, node: NodeCode, child: NodeCode) -> tuple[Forward, ForwardChange, ForwardChange]:
        """Return the functions that call a node of the same stage. Its exceptions do not fail its parent.

        It gets the values that it would get over the wire: of the declared types, and not shared.
        """
        row = self._row
        fail = self._fail
        running = self._runnings[child.number]
        sent, received = self._collector.counts[node.number], self._collector.counts[child.number]
        read_key, read_value = reader(node.key) or _same, reader(node.value) or _same
        read_out = reader(child.value) or _same
        hand_key = _handing(writer(node.out_key, "the key"), reader(child.key))
        hand_value = _handing(writer(node.out_value, "the value"), reader(child.value))

        def call(key: Any, value: Any, old: Any, ts: int, headers: Any) -> None:
            at, heads = row.timestamp, row.headers
            row.timestamp = ts
            if headers is not SAME:
                row.headers = headers
            sent[FORWARDED] += 1
            received[RECEIVED] += 1
            try:
                if child.is_table:
                    running.receive_change(key, value, old, ts, row.is_latest)
                else:
                    running.receive(key, value, ts, row.headers)
            except FAILURES as error:
                fail(child, error)
            finally:
                row.timestamp, row.headers = at, heads

        def forward(key: Any, value: Any, ts: int, headers: tuple[Header, ...] = SAME) -> None:
            # Who keeps them received them as they came.
            key = read_key(row.key) if key is KEEP else hand_key(key)
            value = read_value(row.value) if value is KEEP else hand_value(value)
            call(key, value, None, ts, headers)

        def change(key: Any, new: Any, old: Any, ts: int, headers: tuple[Header, ...] = SAME) -> None:
            key = read_key(row.key) if key is KEEP else hand_key(key)
            call(key, hand_value(new), hand_value(old), ts, headers)

        def wire(key: Any, new: Any, old: Any, ts: int, headers: tuple[Header, ...] = SAME) -> None:
            key = read_key(row.key) if key is KEEP else hand_key(key)
            call(key, read_out(new), read_out(old), ts, headers)

        return forward, change, wire

    def _passes(self, kind: TypeCode | None, part: Callable[[NodeCode], TypeCode | None]) -> bool:
        return is_scalar(kind) and all(part(entry) == kind for entry in self._nodes.values())


def sole_sender(code: StageCode) -> int | None:
    """Return the number of the one node that sends outputs outside, if it has one child only."""
    senders = [node for node in code.nodes if any(not child.inside for child in node.children)]
    return senders[0].number if len(senders) == 1 and len(senders[0].children) == 1 else None


def _handing(write: Convert | None, read: Convert | None) -> Convert:
    """Return the conversion from a value that a node sends to the value that the next one gets."""
    if write is None:
        return _same
    if read is None:
        return write
    return lambda value: read(write(value))


def _each(ways: Sequence[Forward]) -> Forward:
    def forward(key: Any, value: Any, ts: int, headers: tuple[Header, ...] = SAME) -> None:
        for way in ways:
            way(key, value, ts, headers)

    return forward


def _each_change(ways: Sequence[ForwardChange]) -> ForwardChange:
    def change(key: Any, new: Any, old: Any, ts: int, headers: tuple[Header, ...] = SAME) -> None:
        for way in ways:
            way(key, new, old, ts, headers)

    return change


def _same(value: Any) -> Any:
    return value
