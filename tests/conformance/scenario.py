"""Turns a scenario file into the records to feed, cut into micro-batches, and the results to expect."""

from __future__ import annotations

import fnmatch
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from brookmere.record import Record


@dataclass(frozen=True, slots=True)
class Row:
    """An output record as a scenario writes it. `after` is None where the feeding hides it."""

    key: str | None
    value: str | None
    ts: int
    headers: tuple[tuple[str, str | None], ...] = ()
    after: int | None = None

    def __str__(self) -> str:
        parts = [f"{_shown(self.key)}={_shown(self.value)}@{self.ts}"]
        if self.headers:
            parts.append("headers " + ",".join(f"{name}:{_shown(told)}" for name, told in self.headers))
        if self.after is not None:
            parts.append(f"after step {self.after}")
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class Batch:
    """Records that one micro-batch holds, or a move of the wall clock. `first` is the first step's index."""

    first: int
    records: tuple[tuple[str, Record], ...] = ()
    wall_clock: int | None = None

    @property
    def last(self) -> int:
        return self.first + max(len(self.records), 1) - 1


@dataclass(frozen=True)
class Scenario:
    """A recorded scenario. `name` is its path below the directory it was found in, without suffix."""

    name: str
    data: Mapping[str, Any]

    @property
    def template(self) -> str:
        return self.name.rpartition("-")[0]

    @property
    def seed(self) -> int:
        return int(self.name.rpartition("-")[2])

    @property
    def optimize(self) -> bool:
        return bool(self.data.get("optimize", False))

    @property
    def error(self) -> Mapping[str, Any] | None:
        error: Mapping[str, Any] | None = self.data.get("error")
        return error

    @cached_property
    def outputs(self) -> dict[str, list[Row]]:
        recorded: Mapping[str, Sequence[Mapping[str, Any]]] = self.data.get("outputs", {})
        return {topic: [_row(row) for row in rows] for topic, rows in recorded.items()}

    def batches(self, cut: str) -> Iterator[Batch]:
        """Cut the steps into micro-batches: "single", "whole" or "random:SEED".

        A move of the wall clock always stands alone.
        """
        size = _sizes(cut, self.name, len(self.data["inputs"]))
        first, records = 0, list[tuple[str, Record]]()
        limit = size()
        for index, step in enumerate(self.data["inputs"]):
            clock = step.get("advance_wall_clock")
            if clock is None:
                records.append((step["topic"], _record(step)))
            if records and (clock is not None or len(records) >= limit):
                yield Batch(first, tuple(records))
                first, records, limit = index + 1, [], size()
            if clock is not None:
                yield Batch(index, wall_clock=clock)
                first = index + 1
        if records:
            yield Batch(first, tuple(records))


def load(directory: Path, match: str = "*") -> list[Scenario]:
    """Read the scenarios below a directory whose names fit the pattern, in order of their names."""
    found = []
    for path in sorted(directory.rglob("*.json")):
        name = path.relative_to(directory).with_suffix("").as_posix()
        if fnmatch.fnmatchcase(name, match):
            found.append(Scenario(name, json.loads(path.read_text(encoding="utf-8"))))
    return found


def check_cut(cut: str) -> str:
    """Return the cut if it is one, otherwise raise a ValueError."""
    _sizes(cut, "", 0)
    return cut


class _Sizes:
    """How many records the next micro-batch may hold."""

    def __init__(self, choices: Sequence[int], seed: str) -> None:
        self._choices = choices
        self._random = random.Random(seed)

    def __call__(self) -> int:
        return self._random.choice(self._choices)


def _sizes(cut: str, name: str, steps: int) -> _Sizes:
    kind, _, seed = cut.partition(":")
    if cut == "single":
        return _Sizes((1,), "")
    if cut == "whole":
        return _Sizes((steps,), "")
    if kind == "random" and seed.lstrip("-").isdigit():
        # Some batches grow with the scenario, so that a long one does not take a hundred of them.
        return _Sizes((1, 1, 2, 3, 5, 8, steps // 6 + 1, steps // 3 + 1), f"{seed} {name}")
    raise ValueError(f"unknown cut {cut!r}: give single, whole or random:SEED")


def _record(step: Mapping[str, Any]) -> Record:
    headers = tuple((name, None if told is None else told.encode()) for name, told in step.get("headers", ()))
    return Record(step["key"], step["value"], step["ts"], headers)


def _row(row: Mapping[str, Any]) -> Row:
    headers = tuple((name, told) for name, told in row.get("headers", ()))
    return Row(row["key"], row["value"], row["ts"], headers, row["after"])


def _shown(text: str | None) -> str:
    return "null" if text is None else f"'{text}'"
