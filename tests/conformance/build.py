"""Turns the operator list of a scenario into calls of the DSL, one call per entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from pyspark.sql import Column

import brookmere as bm
from brookmere.serde.default import MixedWindows
from tests.conformance import build_joins, processors, words
from tests.conformance.codes import Code, ColumnCode, PythonCode, told_keys

Entry = Mapping[str, Any]

# Operators that hand a value on as they got it, so that a count below them is still a number.
_KEEPS_VALUES = frozenset(
    {
        "filter",
        "filter_not",
        "select_key",
        "peek",
        "branch",
        "repartition",
        "to_table",
        "to_stream",
        "group_by",
        "group_by_key",
        "window",
        "suppress",
    }
)


# What an aggregation may be told about its result.
_RESULT = ("name", "store", "retention")
# Recordings hold them in milliseconds.
_DURATIONS = ("advance", "grace", "retention")


def build(entries: Sequence[Entry], *, optimize: bool = False, python: bool = False) -> bm.Topology:
    """Build the topology of a scenario; with `python` its words are Python functions where they may be."""
    program = _Program(entries, PythonCode() if python else ColumnCode())
    for entry in entries:
        program.add(entry)
    return program.builder.build(optimization="all" if optimize else "none")


def _as_bytes(column: Column) -> Column:
    return words.text(column).cast("binary")


def _as_text(column: Column) -> Column:
    return column.cast("string")


# Writes any key or value as its text, as the recording did; a plain Text would refuse a count.
TOLD = bm.Custom(_as_text, _as_bytes, name="told")
TOLD_WINDOWED = bm.Custom(_as_text, lambda key: _as_bytes(words.windowed_text(key)), name="told windowed")


def _is_windowed(handle: Any) -> bool:
    return isinstance(handle._key, bm.Windowed | MixedWindows)


class _Program:
    """The handles of one scenario by their ids."""

    def __init__(self, entries: Sequence[Entry], code: Code) -> None:
        self.builder = bm.StreamsBuilder("oracle", key=bm.Text(), value=bm.Text())
        self._code = code
        self._handles: dict[str, Any] = {}
        self._counts_as_text = _counts_told_as_text(entries)

    def add(self, entry: Entry) -> None:
        add: Callable[[Entry], Any] | None = getattr(self, f"_{entry['op']}", None)
        if add is None:
            raise words.UnknownWordError(f"operator {entry['op']}")
        handle = add(entry)
        if isinstance(handle, dict):
            self._handles.update(handle)
        elif handle is not None:
            self._handles[entry["id"]] = handle

    def _input(self, entry: Entry) -> Any:
        return self._handles[entry["in"]]

    def _function(self, entry: Entry, spec: str) -> Any:
        return self._code.function(spec, windowed=_is_windowed(self._input(entry)))

    def _test(self, entry: Entry, spec: str) -> Any:
        return self._code.test(spec, windowed=_is_windowed(self._input(entry)))

    def _pair(self, entry: Entry, key_spec: str, value_spec: str) -> Any:
        return self._code.pair(key_spec, value_spec, windowed=_is_windowed(self._input(entry)))

    # Sources

    def _stream(self, entry: Entry) -> Any:
        options = _given(entry, "name")
        if entry.get("timestamp") == "suffix":
            options["timestamp"] = words.suffix_time
            # An extractor of Kafka Streams skips a record by giving it a negative time.
            options["on_invalid_timestamp"] = "skip"
        return self.builder.stream(entry["topic"], **options)

    def _table(self, entry: Entry) -> Any:
        return self.builder.table(
            entry["topic"], **_given(entry, "name", "store"), **build_joins.history(entry)
        )

    def _global_table(self, entry: Entry) -> Any:
        return self.builder.global_table(entry["topic"], **_given(entry, "name", "store"))

    # Record by record

    def _filter(self, entry: Entry) -> Any:
        return self._input(entry).filter(self._test(entry, entry["fn"]), **_given(entry, "name", "store"))

    def _filter_not(self, entry: Entry) -> Any:
        return self._input(entry).filter_not(self._test(entry, entry["fn"]), **_given(entry, "name", "store"))

    def _map_values(self, entry: Entry) -> Any:
        function = self._function(entry, entry["fn"])
        return self._input(entry).map_values(function, **_given(entry, "name", "store"))

    def _transform_values(self, entry: Entry) -> Any:
        function = self._function(entry, entry["fn"])
        return self._input(entry).transform_values(function, **_given(entry, "name", "store"))

    def _select_key(self, entry: Entry) -> Any:
        return self._input(entry).select_key(self._function(entry, entry["fn"]), **_given(entry, "name"))

    def _map(self, entry: Entry) -> Any:
        function = self._pair(entry, entry["key_fn"], entry["fn"])
        return self._input(entry).map(function, **_given(entry, "name"))

    def _flat_map(self, entry: Entry) -> Any:
        split = self._code.split_into_pairs(windowed=_is_windowed(self._input(entry)))
        return self._input(entry).flat_map(split, **_given(entry, "name"))

    def _flat_map_values(self, entry: Entry) -> Any:
        return self._input(entry).flat_map_values(self._code.split_value(), **_given(entry, "name"))

    def _peek(self, entry: Entry) -> Any:
        return self._input(entry).peek(lambda key, value: None, **_given(entry, "name"))

    def _merge(self, entry: Entry) -> Any:
        return self._input(entry).merge(self._handles[entry["other"]], **_given(entry, "name"))

    def _branch(self, entry: Entry) -> dict[str, Any]:
        tests, named = entry["tests"], not entry.get("unnamed", False)
        ids = [f"{entry['id']}-{place}" for place in range(len(tests))]
        split = self._input(entry).split(name=f"{entry['id']}-" if named else None)
        for place, spec in enumerate(tests):
            split = split.branch(self._test(entry, spec), name=str(place) if named else None)
        if not entry.get("default", True):
            branches = split.no_default_branch()
        else:
            branches = split.default_branch(name="default" if named else None)
            ids.append(f"{entry['id']}-default")
        if named:
            return {id: branches[id] for id in ids}
        # A branch without a name is called by its place, from 1; the default is 0.
        by_place = {_last_digit(name): branch for name, branch in branches.items()}
        places = [*range(1, len(tests) + 1), 0]
        return {id: by_place[place] for id, place in zip(ids, places, strict=False)}

    def _repartition(self, entry: Entry) -> Any:
        return self._input(entry).repartition(**_given(entry, "name"))

    def _to_table(self, entry: Entry) -> Any:
        return self._input(entry).to_table(**_given(entry, "name", "store"))

    def _join(self, entry: Entry) -> Any:
        return build_joins.join(self._input(entry), self._handles[entry["other"]], entry)

    # Processors

    def _process(self, entry: Entry) -> Any:
        spec, store = entry["fn"], entry.get("store")
        types = {"key": bm.Text()} if processors.gives_text_keys(spec) else {}
        if not processors.keeps_values(spec):
            types["value"] = bm.Text()
        return self._input(entry).process(
            processors.supplier(spec, store),
            stores=processors.stores(store),
            **types,
            **_given(entry, "name"),
        )

    def _process_values(self, entry: Entry) -> Any:
        spec, store = entry["fn"], entry.get("store")
        return self._input(entry).process_values(
            processors.supplier(spec, store, fixed_key=True),
            stores=processors.stores(store),
            value=bm.Text(),
            **_given(entry, "name"),
        )

    # Grouping and aggregation

    def _group_by_key(self, entry: Entry) -> Any:
        return self._input(entry).group_by_key(**_given(entry, "name"))

    def _group_by(self, entry: Entry) -> Any:
        handle, fn = self._input(entry), entry["fn"]
        if isinstance(handle, bm.KTable):
            pair = self._pair(entry, fn, entry.get("value_fn", "value"))
            return handle.group_by(pair, **_given(entry, "name"))
        return handle.group_by(self._function(entry, fn), **_given(entry, "name"))

    def _cogroup(self, entry: Entry) -> Any:
        first, *others = entry["parts"]
        cogrouped = self._handles[first["in"]].cogroup(self._code.step(first["fn"]))
        for part in others:
            cogrouped = cogrouped.cogroup(self._handles[part["in"]], step=self._code.step(part["fn"]))
        return cogrouped

    def _window(self, entry: Entry) -> Any:
        handle, windows = self._input(entry), _windows(entry)
        return handle.windowed_by(windows, **_given(entry, "emit"))

    def _suppress(self, entry: Entry) -> Any:
        options = _given(entry, "max_records")
        if entry.get("when_full") == "shut_down":
            options["when_full"] = "stop"
        if entry["until"] == "window_closes":
            until = bm.until_window_closes(**options)
        else:
            until = bm.until_time_limit(_ms(entry["limit"]), **options)
        return self._input(entry).suppress(until, **_given(entry, "name"))

    def _count(self, entry: Entry) -> Any:
        handle, options = self._input(entry), _given(entry, *_RESULT)
        if entry["id"] in self._counts_as_text:
            if _is_session(handle):
                options["merger"] = self._code.fold("sum")
            return _aggregate(handle, "0", self._code.adding(1), self._code.adding(-1), options)
        # A count with a store has the names of an aggregate, so it can be folded by the code at hand.
        counts = self._code.counts if "store" in entry else None
        if counts is None:
            return handle.count(**options)
        if _is_session(handle):
            options["merger"] = counts.merge
        return _aggregate(handle, 0, counts.add, counts.subtract, options)

    def _reduce(self, entry: Entry) -> Any:
        handle, options = self._input(entry), _given(entry, *_RESULT)
        if isinstance(handle, bm.KGroupedTable):
            options["subtractor"] = self._code.fold(entry["subtract"])
        return handle.reduce(self._code.fold(entry["fn"]), **options)

    def _aggregate(self, entry: Entry) -> Any:
        handle, options = self._input(entry), _given(entry, *_RESULT)
        initial = entry.get("init", "0")
        if _is_session(handle):
            options["merger"] = self._code.fold(entry.get("merger", "concat|&"))
        if isinstance(handle, bm.dsl.CogroupedKStream | bm.dsl.WindowedCogroupedKStream):
            return handle.aggregate(initial, **options)
        subtract = self._code.step(entry["subtract"]) if "subtract" in entry else None
        return _aggregate(handle, initial, self._code.step(entry["fn"]), subtract, options)

    # Leaving

    def _to_stream(self, entry: Entry) -> Any:
        options = _given(entry, "name")
        if "key_fn" in entry:
            options["key"] = ColumnCode().function(entry["key_fn"], windowed=_is_windowed(self._input(entry)))
        return self._input(entry).to_stream(**options)

    def _to(self, entry: Entry) -> None:
        key = TOLD_WINDOWED if _is_windowed(self._input(entry)) else TOLD
        options = {"key": key, "value": TOLD, **_given(entry, "name")}
        if "topic_fn" in entry:
            chosen = words.topic_name(entry["topic_fn"], entry.get("prefix", ""))
            chooser = told_keys(chosen, windowed=_is_windowed(self._input(entry)))
            self._input(entry).to(chooser, router_name="Router", **options)
        else:
            self._input(entry).to(entry["topic"], **options)


def _is_session(handle: Any) -> bool:
    return isinstance(getattr(handle, "_windows", None), bm.SessionWindows)


def _windows(entry: Entry) -> Any:
    grace = _given(entry, "grace")
    match entry["kind"]:
        case "time":
            return bm.TimeWindows(_ms(entry["size"]), **_given(entry, "advance"), **grace)
        case "sliding":
            return bm.SlidingWindows(_ms(entry["size"]), **grace)
        case "session":
            return bm.SessionWindows(_ms(entry["gap"]), **grace)
        case "unlimited":
            return bm.UnlimitedWindows(**_given(entry, "start"))
    raise words.UnknownWordError(f"window {entry['kind']}")


def _given(entry: Entry, *fields: str) -> dict[str, Any]:
    given = {field: entry[field] for field in fields if field in entry}
    return {field: _ms(value) if field in _DURATIONS else value for field, value in given.items()}


def _ms(number: int) -> timedelta:
    return timedelta(milliseconds=number)


def _last_digit(name: str) -> int:
    # Unnamed branches are called KSTREAM-BRANCH-, ten digits, then their place.
    return int(name[len("KSTREAM-BRANCH-0000000000") :])


def _aggregate(handle: Any, initial: str | int, add: Any, subtract: Any, options: dict[str, Any]) -> Any:
    if isinstance(handle, bm.KGroupedTable):
        if subtract is None:
            raise ValueError("an aggregation of a grouped table needs a subtractor")
        return handle.aggregate(initial, adder=add, subtractor=subtract, **options)
    return handle.aggregate(initial, step=add, **options)


def _counts_told_as_text(entries: Sequence[Entry]) -> frozenset[str]:
    """Return the ids of the counts whose numbers reach a merge or the reduce of a stream.

    A Column has one type, and there a number would meet a text or have to become one. The recording knows
    no types, so these counts are folded as text, in a node of the same kind and name. The values of a grouped
    table are texts already: the function that groups it makes them.
    """
    needs_text: set[str] = set()
    for entry in reversed(entries):
        below = {entry.get("id", ""), *(id for id in needs_text if id.startswith(f"{entry.get('id')}-"))}
        if entry["op"] == "merge" or (entry["op"] == "reduce" and "subtract" not in entry):
            needs_text.update(entry[field] for field in ("in", "other") if field in entry)
        elif entry["op"] in _KEEPS_VALUES and below & needs_text:
            needs_text.add(entry["in"])
    return frozenset(entry["id"] for entry in entries if entry["op"] == "count" and entry["id"] in needs_text)
