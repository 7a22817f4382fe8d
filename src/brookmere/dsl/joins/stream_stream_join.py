"""Stream-stream joins: a buffer for each side, the two sides, and their merge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from brookmere.dsl.arguments.late_topic import late_name
from brookmere.dsl.graph.graph import Graph
from brookmere.dsl.graph.steps import ProcessorStep
from brookmere.dsl.joins.join_steps import StreamJoinStep
from brookmere.dsl.joins.repartition import with_its_task
from brookmere.topology.function import Function, here
from brookmere.topology.nodes import ProcessorNode, SinkNode, Store, StoreKind, StoreType
from brookmere.topology.operators import How, JoinBuffer, PassThrough, Side, StreamJoin
from brookmere.topology.windows import JoinWindows

if TYPE_CHECKING:
    from brookmere.dsl.stream import KStream

_WINDOWED = "KSTREAM-WINDOWED-"
_MERGE = "KSTREAM-MERGE-"
_SHARED = "KSTREAM-OUTERSHARED-"


@dataclass(frozen=True, slots=True)
class StreamJoining:
    """What both sides of a join have in common."""

    joiner: Function
    how: How
    windows: JoinWindows
    close_idle_ms: int | None = None
    late_to: str | None = None


def join_streams(
    left: KStream,
    right: KStream,
    joining: StreamJoining,
    store: str | None,
    store_type: StoreType,
    name: str | None,
) -> KStream:
    """Return the stream of pairs whose times are within the join windows."""
    graph, how, windows = left._graph, joining.how, joining.windows
    graph.check_store(store, store_type)
    left, right = (
        with_its_task(left, None if name is None else f"{name}-left", right._key),
        with_its_task(right, None if name is None else f"{name}-right", left._key),
    )
    sources = tuple(dict.fromkeys((*left._sources, *right._sources)))
    graph.copartitioned.append(sources)
    names = _Names(graph, how, store, name)
    stores = _Stores(names, windows, store_type)
    buffers = [
        ProcessorStep(name=buffer, location=here(), operator=JoinBuffer(kept.name), store=kept)
        for buffer, kept in ((names.left_buffer, stores.left), (names.right_buffer, stores.right))
    ]
    for buffer, stream in zip(buffers, (left, right), strict=True):
        graph.add(buffer, stream._step)

    def side(which: Side, node: str, buffer: str, other: Store) -> ProcessorNode:
        operator = StreamJoin(
            which,
            other.name,
            windows,
            how,
            joining.joiner,
            unmatched=None if stores.unmatched is None else stores.unmatched.name,
            clock=names.merge,
            drop_late=graph.corrects("join-late-records"),
            wait_for_grace=graph.corrects("join-unmatched-out-of-order"),
            close_idle_ms=joining.close_idle_ms,
        )
        used = (other.name,) if stores.unmatched is None else (other.name, stores.unmatched.name)
        return ProcessorNode(node, (buffer,), operator, used, here())

    step = StreamJoinStep(
        name=names.merge,
        location=here(),
        sides=(
            side("left", names.left, names.left_buffer, stores.right),
            side("right", names.right, names.right_buffer, stores.left),
        ),
        merge=PassThrough(),
        store=stores.unmatched,
        buffers=(names.left_buffer, names.right_buffer),
        keeps_null_keys=how != "inner",
        late=_late(joining.late_to, (names.left, left), (names.right, right)),
    )
    graph.add(step, left._step, right._step)
    key = left._key if left._key == right._key else None
    return replace(left, _step=step, _key=key, _value=None, _sources=sources)


def _late(topic: str | None, *sides: tuple[str, KStream]) -> tuple[SinkNode, ...]:
    """Return the sinks for records that the sides drop."""
    if topic is None:
        return ()
    return tuple(
        SinkNode(late_name(node), (node,), topic, stream._key, stream._value, late=True, location=here())
        for node, stream in sides
    )


class _Names:
    """The names of the five nodes and the three stores."""

    def __init__(self, graph: Graph, how: How, store: str | None, name: str | None) -> None:
        names = graph.names
        this, other = "-this-join", "-other-join"
        if how == "outer":
            this = "-outer-this-join"
        if how != "inner":
            other = "-outer-other-join"
        self.left_buffer = names.choose(name, _WINDOWED, "-this-windowed")
        self.right_buffer = names.choose(name, _WINDOWED, "-other-windowed")
        left = names.generate("KSTREAM-OUTERTHIS-" if how == "outer" else "KSTREAM-JOINTHIS-")
        right = names.generate("KSTREAM-JOINOTHER-" if how == "inner" else "KSTREAM-OUTEROTHER-")
        self.left = left if name is None else name + this
        self.right = right if name is None else name + other
        self.merge = names.choose(name, _MERGE, "-merge")
        # Without a store name, the stores are named after the numbers even if the nodes have names.
        shared = "-outer-shared-join" if how == "outer" else "-left-shared-join"
        self.left_store = f"{left if store is None else store + this}-store"
        self.right_store = f"{right if store is None else store + other}-store"
        self.unmatched = f"{_SHARED + left[-10:] if store is None else store + shared}-store"
        self.has_unmatched = how != "inner"


class _Stores:
    """The stores of both sides and of the records waiting for a match."""

    def __init__(self, names: _Names, windows: JoinWindows, store_type: StoreType) -> None:
        size = windows.before_ms + windows.after_ms

        def store(name: str, kind: StoreKind) -> Store:
            retention = size + windows.grace_ms
            return Store(name, store_type, kind=kind, retention_ms=retention, window_ms=size)

        self.left = store(names.left_store, "join_window")
        self.right = store(names.right_store, "join_window")
        self.unmatched = store(names.unmatched, "unmatched") if names.has_unmatched else None
