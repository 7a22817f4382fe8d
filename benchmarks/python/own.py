"""Runs one of the programs with Brookmere until its standard input ends: `own SETTINGS`, as JSON."""

from __future__ import annotations

import json
import sys

import brookmere as bm
from benchmarks.child import run_to_the_end
from benchmarks.python.programs import program


def main() -> int:
    """Run it."""
    given = json.loads(sys.argv[1])
    settings = {
        "bootstrap.servers": given["servers"],
        "state.dir": given["directory"],
        "processing.guarantee": "exactly_once_v2",
        "num.stream.threads": 2,
        "spark.driver.memory": given["memory"],
        # Every update is a result, as it is for the others.
        "statestore.cache.max.bytes": 0,
    }
    return run_to_the_end(bm.Application(program(given), settings))


if __name__ == "__main__":
    sys.exit(main())
