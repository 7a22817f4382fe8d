"""A program with Python code runs on executors: separate processes with nothing but Python installed."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

import brookmere as bm
from tests.cli.conftest import Spawn
from tests.run.homes import Home

# It is the master that Spark has for its own tests: executors are processes, started as on a cluster.
CLUSTER = "local-cluster[1,2,1024]"

# The interpreter that the environment of the tests was made from, which knows none of its packages.
BARE = str(Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}"))

PROGRAM = """\
import os, pathlib, signal
import brookmere as bm

MARK = pathlib.Path(__file__).with_name("mark")


def runner(value: str) -> str:
    return pathlib.Path(f"/proc/{os.getppid()}/cmdline").read_text().replace(chr(0), " ")


class Count(bm.Processor):
    stores = (bm.key_value_store("counts", key=bm.Text(), value=bm.Long()),)

    def process(self, record):
        counts = self.context.store("counts")
        count = (counts.get(record.key) or 0) + 1
        counts.put(record.key, count)
        if count == 3 and not MARK.exists():
            MARK.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        self.context.forward(record.with_value(count))


app = bm.StreamsBuilder("spread", key=bm.Text(), value=bm.Text())
words = app.stream("words")
words.map_values(bm.python(runner)).to("runners")
words.process(Count, value=bm.Long()).to("counts")
words.group_by(lambda value: value).count(store="words").to_stream().to("word-counts")
"""


@pytest.mark.slow
def test_python_code_runs_next_to_executors_and_a_dead_worker_is_replaced(spawn: Spawn, folder: Path) -> None:
    (folder / "spread.py").write_text(PROGRAM)
    home = Home(folder / ".brookmere")
    words = [(f"k{number % 7}", f"w{number % 5}") for number in range(60)]
    home.topics.create("words", 4)
    with home.topics.producer("words", key=bm.Text(), value=bm.Text()) as producer:
        for key, value in words:
            producer.send(key, value, timestamp=0)

    arguments = ("--until-idle", "--quiet", "-c", "statestore.cache.max.bytes=0", "--master", CLUSTER)
    ended = spawn("run", "spread.py", *arguments, env={"PYSPARK_PYTHON": BARE})

    assert ended.returncode == 0, ended.stderr
    assert (folder / "mark").exists()
    assert last(home, "counts") == Counter(key for key, _ in words)
    assert last(home, "word-counts") == Counter(value for _, value in words)
    assert {"CoarseGrainedExecutorBackend" in text for text in home.read("runners")} == {True}
    assert len(home.read("counts", bm.Long())) == len(words)


def last(home: Home, topic: str) -> dict[str, int]:
    """Return the last count of each key."""
    found = home.topics[topic]
    rows = [record for partition in range(found.partitions) for record in found.read(partition)]
    return {bm.Text().deserialize(row.key): bm.Long().deserialize(row.value) for row in rows}
