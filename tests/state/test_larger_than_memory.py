"""A replica in files holds more than its process has memory for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from tests.state.worlds import World

_MEGABYTE = 1024 * 1024
_ROWS, _ROW_BYTES = 4000, 4096
_APPENDS = 24
_MOST_GROWTH = 200 * _MEGABYTE

# Memory of its own counts; the pages of files that are mapped go when others need the place.
_FOLLOWER = """
import json, random, sys
from pathlib import Path
import brookmere as bm
from brookmere.state import Replica, StoreInfo

def own_bytes():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))

topics, directory, rows = bm.Topics(Path(sys.argv[1])), Path(sys.argv[2]), int(sys.argv[3])
before = peak = own_bytes()
info = StoreInfo("rows", "key_value", "rows", bm.Text(), bm.Bytes())
with Replica("site", [info], topics, directory) as replica:
    store = replica["rows"]
    while not store.is_ready:
        with store._tail.changed:
            store._tail.changed.wait(0.05)
        peak = max(peak, own_bytes())
    for number in random.Random(1).sample(range(rows), 2000):
        value = store.get(f"k{number}")
        assert value[:8] == number.to_bytes(8, "big"), number
    peak = max(peak, own_bytes())
    bytes_kept = replica.status()[0].bytes
print(json.dumps({"growth": peak - before, "kept": bytes_kept}))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the memory of a process is read in /proc")
def test_a_replica_holds_more_than_its_process_has_memory_for(world: World) -> None:
    topic = world.create("rows", 2)
    for at in range(0, _APPENDS * _ROWS, _ROWS):
        # What is random cannot be compressed.
        numbers = range(at, at + _ROWS)
        values = [number.to_bytes(8, "big") + os.urandom(_ROW_BYTES - 8) for number in numbers]
        keys = pa.array([f"k{number}".encode() for number in numbers], pa.binary())
        topic.append_batch(None, pa.table({"key": keys, "value": pa.array(values, pa.binary())}))

    done = subprocess.run(
        [
            *(sys.executable, "-c", _FOLLOWER),
            *(str(world.home / "topics"), str(world.home / "replica"), str(_APPENDS * _ROWS)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["kept"] > 1.7 * _MOST_GROWTH
    assert found["growth"] < _MOST_GROWTH
