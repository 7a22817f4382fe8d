"""Checks of the arguments about windows: their store, their key, and when they are sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import get_args

from brookmere.dsl.arguments.checks import refuse
from brookmere.dsl.functions.user_functions import MERGER, Given, code_of
from brookmere.dsl.graph.graph import Graph
from brookmere.durations import to_timedelta
from brookmere.serde import Serde, Windowed
from brookmere.serde.default import MixedWindows, Natural
from brookmere.topology.durations import Duration, milliseconds
from brookmere.topology.nodes import Store, StoreType
from brookmere.topology.operators import Code
from brookmere.topology.windows import Emit, SessionWindows, UnlimitedWindows, Windows

_KINDS = ", ".join(kind.__name__ for kind in get_args(Windows))


def windows_of(windows: object) -> Windows:
    """Check the windows."""
    if not isinstance(windows, get_args(Windows)):
        refuse(f"windowed_by() needs windows, found {windows!r}", f"Pass one of {_KINDS}")
    found: Windows = windows
    return found


def emit_of(emit: Emit, windows: Windows) -> Emit:
    """Check when results are sent, and that these windows support it."""
    known = get_args(Emit)
    if emit not in known:
        refuse(f"There is no emit strategy {emit!r}", f"Use {' or '.join(map(repr, known))}")
    if emit == "close" and isinstance(windows, UnlimitedWindows):
        refuse('UnlimitedWindows never close, so emit="close" would send nothing', 'Use emit="update"')
    return emit


def idle_of(close_idle_after: Duration | None) -> int | None:
    """Return the idle time after which stream time advances with the wall clock."""
    return None if close_idle_after is None else milliseconds("close_idle_after", close_idle_after, least=1)


def merger_of(graph: Graph, merger: Given | None, windows: Windows) -> Code | None:
    """Check the function that combines two aggregates; only session windows need it."""
    if not isinstance(windows, SessionWindows):
        if merger is not None:
            refuse(
                f"Only session windows are merged, found a merger for {type(windows).__name__}",
                "Remove merger=",
            )
        return None
    if merger is None:
        refuse(
            "aggregate() of session windows needs a merger",
            "Pass merger=, a function of (aggregate, other) that combines two sessions",
        )
    return code_of(graph, "merger of aggregate", merger, MERGER)


def window_store(
    graph: Graph,
    given: str | None,
    prefix: str,
    store_type: StoreType,
    windows: Windows,
    retention: Duration | None,
) -> Store:
    """Return the window or session store."""
    store = graph.store(given, prefix, store_type)
    retention_ms = windows.retention_ms
    if retention is not None:
        retention_ms = milliseconds("retention", retention)
        if retention_ms < windows.retention_ms:
            graph.fault(
                f"The retention of store {store.name!r} is too short: {retention_ms} ms for {windows}",
                f"Pass at least {windows.retention_ms} ms, or remove retention=",
            )
    is_session = isinstance(windows, SessionWindows)
    return replace(
        store,
        kind="session" if is_session else "window",
        retention_ms=retention_ms,
        window_ms=windows.length_ms,
    )


def windowed_serde(key: Serde | None, windows: Windows) -> Windowed:
    """Return the serde of windowed keys in Kafka's binary form."""
    inner = Natural() if key is None else key
    if isinstance(windows, SessionWindows):
        return Windowed(inner, session=True)
    length = windows.length_ms
    # Unlimited windows are also written without a size.
    return Windowed(inner, size=timedelta(milliseconds=length) if length else None)


def merged_key(keys: Sequence[Serde | None]) -> Serde | None:
    """Return the serde of the keys of merged streams; None where the type of the keys is to choose it."""
    first = keys[0]
    if all(key == first for key in keys):
        return first
    windowed = [key for key in keys if isinstance(key, Windowed | MixedWindows)]
    if len(windowed) < len(keys):
        return None
    sessions = {key.session for key in windowed}
    return MixedWindows(sessions.pop() if len(sessions) == 1 else None)


def sink_key_of(given: Serde | None, known: Serde | None) -> Serde | None:
    """Check that the key serde of a sink fits the windows of its keys."""
    if isinstance(known, MixedWindows) and given is None:
        differ = {False: "size", True: "serde", None: "kind"}[known.session]
        refuse(
            f"The keys have windows of the merged streams, which differ in their {differ}; no serde is known",
            'Pass for example key=bm.Windowed(bm.Text(), form="json"), or another key with select_key()',
        )
    if not isinstance(given, Windowed) or not isinstance(known, Windowed | MixedWindows):
        return given or known
    if given.form == "binary" and given.session != known.session:
        found = {True: "session windows", False: "time windows", None: "both time and session windows"}
        refuse(
            f"The serde of the key does not fit: the windows are {found[known.session]}, found {given}",
            'Pass form="json"' if known.session is None else f"Pass session={known.session}",
        )
    size = known.size if isinstance(known, Windowed) else None
    if given.size is not None and given.size != size:
        length = (
            "differ in length"
            if size is None
            else f"are {to_timedelta(size) // timedelta(milliseconds=1)} ms long"
        )
        refuse(
            f"The serde of the key does not fit: the windows {length}, found a size of {given.size_ms} ms",
            "Remove size=" if size is None else f"Pass size={size!r}",
        )
    return given
