"""The programs that are killed: without state, with one level of it, two levels, windows, and Python code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from pyspark.sql import functions as F

import brookmere as bm

SOURCE = "sentences"
SINKS = {
    "stateless": ("long", "short"),
    "one_level": ("words",),
    "two_levels": ("letters",),
    "windows_and_joins": ("closed", "pairs"),
    "python_code": ("tallies", "spoken"),
}
"""The topics that each program writes."""
CHANGELOGS = (
    "chaos-one-words-changelog",
    "chaos-two-words-changelog",
    "chaos-two-letters-changelog",
    "chaos-time-recent-changelog",
    "chaos-python-tallies-changelog",
    "chaos-python-spoken-changelog",
)
"""The topics of their stores."""


def stateless(prefix: str = "") -> bm.StreamsBuilder:
    """Return a filter, a map and a branch."""
    app = bm.StreamsBuilder(f"{prefix}chaos-plain", key=bm.Text(), value=bm.Text())
    lines = app.stream(prefix + SOURCE).filter(lambda line: ~line.contains("x")).map_values(F.upper)
    branches = (
        lines.split(name="by-")
        .branch(lambda line: F.length(line) > 22, name="long")
        .default_branch(name="short")
    )
    branches["by-long"].to(f"{prefix}long")
    branches["by-short"].to(f"{prefix}short")
    return app


def one_level(prefix: str = "") -> bm.StreamsBuilder:
    """Return a word count."""
    app = bm.StreamsBuilder(f"{prefix}chaos-one", key=bm.Text(), value=bm.Text())
    words = app.stream(prefix + SOURCE).flat_map_values(lambda line: F.split(line, " "))
    words.group_by(lambda key, word: word).count(store="words").to_stream().to(
        f"{prefix}words", value=bm.Long()
    )
    return app


def two_levels(prefix: str = "") -> bm.StreamsBuilder:
    """Return the number of updates of word counts by first letter."""
    app = bm.StreamsBuilder(f"{prefix}chaos-two", key=bm.Text(), value=bm.Text())
    words = app.stream(prefix + SOURCE).flat_map_values(lambda line: F.split(line, " "))
    counts = words.group_by(lambda key, word: word).count(store="words").to_stream()
    letters = counts.group_by(lambda word, count: F.substring(word, 1, 1))
    letters.reduce(lambda total, count: total + count, store="letters").to_stream().to(
        f"{prefix}letters", value=bm.Long()
    )
    return app


def windows_and_joins(prefix: str = "") -> bm.StreamsBuilder:
    """Return final counts of windows, and a join of streams whose lonely records come out late."""
    app = bm.StreamsBuilder(f"{prefix}chaos-time", key=bm.Text(), value=bm.Text())
    lines = app.stream(prefix + SOURCE)
    hopping = bm.TimeWindows("400ms", advance="100ms", grace="50ms")
    counts = lines.group_by_key().windowed_by(hopping).count(store="recent", store_type="rocksdb")
    counts.suppress(bm.until_window_closes()).to_stream(lambda key, value: key.key).to(
        f"{prefix}closed", value=bm.Long()
    )
    with_x, without = lines.filter(lambda v: v.contains("x")), lines.filter_not(lambda v: v.contains("x"))
    pairs = with_x.left_join(
        without,
        lambda left, right: F.concat(left, F.lit("/"), F.coalesce(right, F.lit("-"))),
        windows=bm.JoinWindows("60ms", grace="20ms"),
    )
    pairs.to(f"{prefix}pairs")
    return app


class Tally(bm.Processor):
    """Counts the letters of each key, and sends all counts again from time to time."""

    def init(self, context: Any) -> None:
        super().init(context)
        self._tallies = context.store("tallies")
        context.schedule(timedelta(milliseconds=100), "stream_time", self._send)

    def process(self, record: bm.Record) -> None:
        total = (self._tallies.get(record.key) or 0) + len(record.value)
        self._tallies.put(record.key, total)
        self.context.forward(record.with_value(total))

    def _send(self, now: int) -> None:
        for key, total in list(self._tallies.all()):
            self.context.forward(bm.Record(key, -total, now))


def longest(line: str) -> str:
    """Return the longest word."""
    return max(line.split(), key=len)


def spoken(word: str, so_far: str) -> str:
    """Return the last words that were spoken."""
    return f"{so_far} {word}"[-40:]


def python_code(prefix: str = "") -> bm.StreamsBuilder:
    """Return a Python map before a processor with a store and a schedule, and before a Python aggregate."""
    app = bm.StreamsBuilder(f"{prefix}chaos-python", key=bm.Text(), value=bm.Text())
    words = app.stream(prefix + SOURCE).map_values(bm.python(longest))
    tallies = bm.key_value_store("tallies", key=str, value=int)
    words.process(Tally, stores=[tallies], key=bm.Text(), value=bm.Long()).to(f"{prefix}tallies")
    windows = words.group_by_key().windowed_by(bm.TimeWindows("400ms", advance="100ms", grace="50ms"))
    windows.aggregate("", bm.python(spoken), store="spoken").to_stream(lambda key, value: key.key).to(
        f"{prefix}spoken"
    )
    return app


PROGRAMS: Mapping[str, Callable[[str], bm.StreamsBuilder]] = {
    made.__name__: made for made in (stateless, one_level, two_levels, windows_and_joins, python_code)
}
EVERY_UPDATE = {"statestore.cache.max.bytes": 0}
"""Each update comes out by itself, so that results do not depend on where batches are cut."""
