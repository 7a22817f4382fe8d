"""Counts records by key until its standard input ends: `counting TOPICS STATE CORE`."""

from __future__ import annotations

import sys
import threading
import time

import brookmere as bm
from benchmarks.queries import cores
from benchmarks.queries.data import APPLICATION, COUNTS, PARTITIONS, SOURCE

_BATCH = 200_000


def main(topics: str, state: str, core: str) -> int:
    """Run the application, and tell on standard output how far it is."""
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
        lambda done: _tell(f"processed {done.total_records} {time.time_ns() // 1_000_000}")
    )
    application.start()
    _tell("running")
    threading.Thread(target=_stop_in_the_end, args=(application,), daemon=True).start()
    application.wait()
    if application.error is not None:
        sys.stderr.write(f"{application.error}\n")
    return 0 if application.error is None else 1


def _stop_in_the_end(application: bm.Application) -> None:
    sys.stdin.read()
    application.stop()


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
