"""The benchmark programs as Brookmere topologies, with Python functions and a processor."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import brookmere as bm


class RunningCount(bm.FixedKeyProcessor):
    """Counts the records of each key."""

    def init(self, context: Any) -> None:
        """Get the store."""
        super().init(context)
        self.counts = context.store("counts")

    def process(self, record: bm.Record) -> None:
        """Forward the count."""
        seen = (self.counts.get(record.key) or 0) + 1
        self.counts.put(record.key, seen)
        self.context.forward(record.with_value(str(seen)))


def program(given: dict[str, Any]) -> bm.StreamsBuilder:
    """Return the program."""
    app = bm.StreamsBuilder(given["application"], key=bm.Text(), value=bm.Text())
    records = app.stream(given["in"])
    if given["program"] == "map":
        results = records.map_values(bm.python(lambda value: value.upper() + "!", returns="string"))
    elif given["program"] == "count":
        store = bm.key_value_store("counts", key=bm.Text(), value=bm.Long(), changelog=False)
        results = records.process_values(RunningCount, stores=[store], value="string")
    else:
        windows = bm.TimeWindows(
            timedelta(milliseconds=given["window_ms"]), grace=timedelta(milliseconds=given["grace_ms"])
        )
        counts = (
            records.group_by_key()
            .windowed_by(windows)
            .aggregate(0, bm.python(lambda _, seen: seen + 1, returns="bigint"))
        )
        results = counts.to_stream(lambda window, _: window.key).map_values(lambda seen: seen.cast("string"))
    results.to(given["out"])
    return app
