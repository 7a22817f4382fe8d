"""Counts records by key until its standard input ends: `counting TOPICS STATE CORE`."""

from __future__ import annotations

import sys
import time

import brookmere as bm
from benchmarks.child import run_to_the_end, tell
from benchmarks.queries import cores
from benchmarks.queries.data import APPLICATION, COUNTS, PARTITIONS, SOURCE

_BATCH = 200_000


def main(topics: str, state: str, core: str) -> int:
    """Run the application, and report progress on standard output."""
    cores.take(int(core))
    app = bm.StreamsBuilder(APPLICATION, key=bm.Text(), value=bm.Text())
    app.stream(SOURCE).group_by_key().count(store=COUNTS.name)
    settings = {
        "topics.dir": topics,
        "state.dir": state,
        "num.stream.threads": PARTITIONS,
        "max.batch.records": _BATCH,
    }
    application = bm.Application(app, settings)
    application.on_progress(
        lambda done: tell(f"processed {done.total_records} {time.time_ns() // 1_000_000}")
    )
    return run_to_the_end(application)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
