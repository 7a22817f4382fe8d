"""Turns recorded programs of one aggregate into a stage of the worker, without a JVM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brookmere.worker.aggregates import (
    FOREVER,
    AggregateWork,
    Emission,
    Fold,
    SessionWindowsWork,
    SlidingWindowsWork,
    Start,
    TimeWindowsWork,
    UserCode,
)
from brookmere.worker.protocol.stage_code import StageCode, StoreCode, Work
from tests.conformance import python_words
from tests.conformance.scenario import Scenario
from tests.worker.aggregates.windowed import WINDOWED
from tests.worker.jvm import STRING, stage_of

_FOLDS = {"count", "reduce", "aggregate"}
_AROUND = {"stream", "group_by_key", "window", "to_stream", "to"}

Entry = Mapping[str, Any]


def is_one_aggregate(scenario: Scenario) -> bool:
    """Tell whether a program does nothing but fold one topic into another."""
    entries = scenario.data["topology"]
    ops = [entry["op"] for entry in entries]
    return (
        scenario.error is None
        and set(ops) <= _FOLDS | _AROUND
        and sum(op in _FOLDS for op in ops) == 1
        and ops.count("to") == 1
        and not any("timestamp" in entry or "key_fn" in entry for entry in entries)
    )


def stage(scenario: Scenario) -> StageCode:
    """Return the stage that folds as the program does."""
    by_op = {entry["op"]: entry for entry in scenario.data["topology"]}
    operator = next(by_op[op] for op in by_op if op in _FOLDS)
    work, kind, retention = _work(_fold(operator), by_op.get("window"), operator.get("retention"))
    store = StoreCode("kept", kind, STRING, STRING, retention)
    out_key = STRING if kind == "key_value" else WINDOWED
    return stage_of(work, store, value=STRING, out_key=out_key, out_value=STRING, sends_table=True)


def _fold(entry: Entry) -> Fold:
    if entry["op"] == "count":
        step = UserCode(lambda count: str(int(count) + 1), ("aggregate",))
        return Fold("kept", step, Start("0"), UserCode(python_words.fold("sum"), ("aggregate", "value")))
    fold = python_words.fold(entry["fn"])
    if entry["op"] == "reduce":
        return Fold("kept", UserCode(fold, ("aggregate", "value")))
    merger = UserCode(python_words.fold(entry.get("merger", "concat|&")), ("aggregate", "value"))
    return Fold("kept", UserCode(fold, ("aggregate", "value")), Start(entry.get("init", "0")), merger)


def _work(fold: Fold, window: Entry | None, asked: int | None) -> tuple[Work, Any, int | None]:
    if window is None:
        return AggregateWork(fold), "key_value", None
    on_close = window.get("emit") == "close"
    emission, grace = Emission(on_close=on_close), window.get("grace", 0)
    by_time, by_end = ("timed_window", "timed_session") if on_close else ("window", "session")
    match window["kind"]:
        case "time":
            size = window["size"]
            work: Work = TimeWindowsWork(fold, emission, size, window.get("advance", size), grace)
            return work, by_time, asked or size + grace
        case "sliding":
            size = window["size"]
            return SlidingWindowsWork(fold, emission, size, grace), by_time, asked or 2 * size + grace
        case "session":
            gap = window["gap"]
            return SessionWindowsWork(fold, emission, gap, grace), by_end, asked or gap + grace
    return TimeWindowsWork(fold, emission, FOREVER, FOREVER, 0, window.get("start", 0)), by_time, None
