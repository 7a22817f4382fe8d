"""Serves a replica over HTTP until its standard input ends: `server TOPICS DIRECTORY PORT STORE CORE`."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path

import brookmere as bm
from benchmarks.queries import cores
from benchmarks.queries.data import COUNTS, STORE
from brookmere.serve import Server, create_api
from brookmere.state import Replica

_PATIENCE = 600.0


def main(topics: str, directory: str, port: str, store: str, core: str) -> None:
    """Serve, and report on standard output when requests are answered."""
    cores.take(int(core))
    infos = [info for info in (STORE, COUNTS) if info.name == store]
    with Replica("bench", infos, bm.Topics(Path(topics)), Path(directory)) as replica:
        replica[store].wait(timedelta(seconds=_PATIENCE))
        with Server(create_api(replica), "127.0.0.1", int(port)):
            sys.stdout.write("running\n")
            sys.stdout.flush()
            sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
