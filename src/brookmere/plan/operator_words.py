"""Turns an operator into the words in which a plan tells it."""

from __future__ import annotations

from brookmere.plan.python_words import python_words
from brookmere.topology import join_operators as jo
from brookmere.topology import operators as op
from brookmere.topology.nodes import Store
from brookmere.topology.windows import (
    FOREVER,
    JoinWindows,
    SessionWindows,
    SlidingWindows,
    TimeWindows,
    UnlimitedWindows,
    Windows,
)

_UNITS = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000))
_KEPT = {
    "window": "windows",
    "session": "sessions",
    "versioned": "versions",
    "join_window": "records",
    "seen": "times",
}


def operator_words(operator: op.Operator) -> str:
    """Return the operator's name and, where there is more to say, what it was told.

    >>> operator_words(op.TableToStream())
    'TableToStream'
    """
    name = type(operator).__name__
    details = [*_details(operator), *python_words(operator)]
    return f"{name}: {', '.join(details)}" if details else name


def store_words(store: Store) -> str:
    """Return a store's type, and how long it keeps what it holds."""
    if store.kind not in _KEPT or store.retention_ms is None:
        return store.store_type
    return f"{store.store_type}, {_KEPT[store.kind]} kept {_kept(store.retention_ms)}"


def duration_words(ms: int) -> str:
    """Return a length of time in the largest unit that divides it.

    >>> duration_words(90_000), duration_words(120_000), duration_words(5)
    ('90 s', '2 min', '5 ms')
    """
    unit, size = next(((unit, size) for unit, size in _UNITS if ms and ms % size == 0), ("ms", 1))
    return f"{ms // size} {unit}"


def _details(operator: op.Operator) -> list[str]:
    match operator:
        case op.WindowAggregate(windows=windows, emit=emit):
            sent = "sent when they close" if emit == "close" else "sent at every update"
            corrected = _corrected(
                ("window-null-values", operator.skip_nulls), ("window-close-jumps", operator.emit_all)
            )
            return [*_window_words(windows), sent, *corrected, *_idle(operator.close_idle_ms)]
        case op.Dedupe(within_ms=within):
            return [f"within {duration_words(within)}"]
        case op.TableSource(ttl_ms=int(ttl)):
            return [f"rows live {duration_words(ttl)}"]
        case op.Suppress():
            return [*_suppress_words(operator), *_idle(operator.close_idle_ms)]
        case _:
            return _join_details(operator)


def _join_details(operator: op.Operator) -> list[str]:
    match operator:
        case jo.StreamJoin(side=side, how=how, windows=windows):
            corrected = _corrected(
                ("join-late-records", operator.drop_late),
                ("join-unmatched-out-of-order", operator.wait_for_grace),
            )
            parts = [f"{how}, {side} side", _span(windows), *_grace(windows.grace_ms), *corrected]
            return [*parts, *_idle(operator.close_idle_ms)]
        case jo.StreamSelfJoin(windows=windows):
            return ["inner", _span(windows), *_grace(windows.grace_ms)]
        case jo.StreamTableJoin(how=how, table=table, grace_ms=grace):
            corrected = _corrected(("table-join-late-records", operator.drop_late))
            return [f"{how}, with {table}", *_grace(grace or 0), *corrected]
        case jo.GlobalJoin(how=how, table=table):
            return [f"{how}, with {table}"]
        case jo.TableJoin(how=how, side=side, other=other):
            return [f"{how}, {side} side, with {other}"]
        case jo.SubscriptionSend(how=how):
            return [how]
        case jo.SubscriptionJoin(right=table):
            return [f"with {table}"]
        case jo.ResponseJoin(how=how, left=table):
            return [f"{how}, with {table}"]
    return []


def _window_words(windows: Windows) -> list[str]:
    match windows:
        case TimeWindows(size_ms=size, advance_ms=advance):
            every = "" if advance == size else f" every {duration_words(advance)}"
            kind = "tumbling" if advance == size else "hopping"
            return [f"{kind} windows of {duration_words(size)}{every}", *_grace(windows.grace_ms)]
        case SlidingWindows(difference_ms=difference, grace_ms=grace):
            return [f"sliding windows of {duration_words(difference)}", *_grace(grace)]
        case SessionWindows(gap_ms=gap, grace_ms=grace):
            return [f"sessions with gaps up to {duration_words(gap)}", *_grace(grace)]
        case UnlimitedWindows(start_ms=start):
            return [f"one window without end from {start} on"]


def _suppress_words(operator: op.Suppress) -> list[str]:
    wait = duration_words(operator.wait_ms)
    words = [
        f"until windows close, {wait} after their end" if operator.until_window_closes else f"for {wait}"
    ]
    bounds = [
        f"{bound} {unit}"
        for bound, unit in ((operator.max_records, "records"), (operator.max_bytes, "bytes"))
        if bound is not None
    ]
    if bounds:
        then = "the application stops" if operator.stop_when_full else "the oldest are sent early"
        words.append(f"beyond {' or '.join(bounds)} {then}")
    return words


def _span(windows: JoinWindows) -> str:
    return f"{duration_words(windows.before_ms)} before to {duration_words(windows.after_ms)} after"


def _grace(ms: int) -> list[str]:
    return [f"grace {duration_words(ms)}"] if ms else []


def _idle(ms: int | None) -> list[str]:
    return [] if ms is None else [f"closed when idle for {duration_words(ms)}"]


def _corrected(*corrections: tuple[str, bool]) -> list[str]:
    return [f"corrected {name}" for name, chosen in corrections if chosen]


def _kept(ms: int) -> str:
    return "forever" if ms >= FOREVER else f"for {duration_words(ms)}"
