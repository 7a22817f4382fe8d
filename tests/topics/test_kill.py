"""A process killed at any line of its way leaves a log that reads, with everything that was acknowledged."""

from __future__ import annotations

import random
import subprocess

import pytest

from brookmere.record import Record
from brookmere.topics import Topic, Topics
from tests.topics.conftest import Start

# A process that has everything imported forks one child per order. The child runs and is killed by SIGKILL
# when it comes to the given number of lines in the code of topics.
FORKING = """
    import os, signal, sys
    from pathlib import Path
    import brookmere as bm
    from brookmere.topics import Writer
    from brookmere.topics.maintenance import maintenance

    topics = bm.Topics(sys.argv[1])
    home = str(Path(maintenance.__file__).parents[1])

    def say(*words):
        os.write(1, (" ".join(map(str, words)) + "\\n").encode())

    def append(first, last):
        topic = topics["t"]
        for batch in range(first, last):
            records = [bm.Record(b"%d" % (batch + n), b"%d %d" % (batch, n), batch) for n in range(3)]
            topic.append(records, writer=Writer("app", "query", batch))
            say(batch)

    def clean():
        maintenance.maintain(topics["t"]._folder, full=True, now=2**50)

    def create():
        topics.create("new", 3)

    def delete():
        topics.delete("t")

    def kill_after(lines):
        left = lines
        def count(frame, event, argument):
            nonlocal left
            if not frame.f_code.co_filename.startswith(home):
                return None
            left -= event == "line"
            if left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return count
        sys.settrace(count)

    say("ready")
    for order in sys.stdin:
        name, lines, *arguments = order.split()
        child = os.fork()
        if child == 0:
            kill_after(int(lines))
            globals()[name](*map(int, arguments))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        say("killed" if os.WIFSIGNALED(status) else "ended")
"""


class Victims:
    """Processes that do something and are killed on the way."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        assert process.stdout
        assert process.stdout.readline() == "ready\n"

    def run(self, name: str, lines: int, *arguments: int) -> tuple[list[int], bool]:
        """Return what was acknowledged, and whether it came to its end."""
        assert self._process.stdin
        assert self._process.stdout
        print(name, lines, *arguments, file=self._process.stdin, flush=True)
        acknowledged = []
        while (word := self._process.stdout.readline().strip()) not in ("killed", "ended"):
            acknowledged.append(int(word))
        return acknowledged, word == "ended"


@pytest.fixture
def victims(topics: Topics, start: Start) -> Victims:
    return Victims(start(FORKING, topics.directory))


def batches(topic: Topic) -> list[list[str]]:
    """Return the records by batch, and check offsets on the way."""
    found: dict[int, list[str]] = {}
    for partition in range(topic.partitions):
        records = list(topic.read(partition))
        assert [record.offset for record in records] == list(range(len(records)))
        for record in records:
            found.setdefault(record.timestamp, []).append(record.value.decode())
    assert sorted(found) == list(range(len(found)))
    return [sorted(found[number]) for number in sorted(found)]


@pytest.mark.slow
def test_a_writer_killed_anywhere_loses_nothing_acknowledged_and_repeats_nothing(
    topics: Topics, victims: Victims
) -> None:
    topic = topics.create("t", 2, {"file.delete.delay.ms": 0})
    chance = random.Random(4)
    following = 0
    ended = 0
    for _ in range(40):
        acknowledged, is_ended = victims.run("append", chance.randrange(1, 7000), following, following + 4)

        found = batches(topic)
        assert all(each == [f"{number} {n}" for n in range(3)] for number, each in enumerate(found))
        assert len(found) >= following + len(acknowledged)
        # The next process appends again what was not acknowledged, as a query does after a failure.
        following += len(acknowledged)
        ended += is_ended

    assert following > 20
    assert 0 < ended < 40
    assert topic.repair().damages == ()


@pytest.mark.slow
def test_cleaning_killed_anywhere_changes_nothing_that_counts(topics: Topics, victims: Victims) -> None:
    topic = topics.create("t", config={"cleanup.policy": "compact", "file.delete.delay.ms": 0})
    chance = random.Random(5)
    expected: dict[bytes, bytes | None] = {}
    for turn in range(20):
        for part in range(3):
            key = b"%d" % chance.randrange(8)
            value = None if chance.random() < 0.3 else b"%d %d" % (turn, part)
            topic.append([Record(key, value, turn)])
            expected[key] = value

        victims.run("clean", chance.randrange(1, 2500))

        found: dict[bytes, bytes | None] = {}
        for record in topic.read(0):
            found[record.key] = record.value
        assert {k: v for k, v in found.items() if v} == {k: v for k, v in expected.items() if v}
        assert topic.end_offsets() == [3 * (turn + 1)]
    assert topic.repair().damages == ()
    assert topic.describe().records < 60


@pytest.mark.slow
def test_a_topic_is_created_or_deleted_wholly_or_not_at_all(topics: Topics, victims: Victims) -> None:
    outcomes = set()
    for lines in range(1, 400, 19):
        topics.create("t", exist_ok=True).append([Record(b"k", b"v", 1)])

        victims.run("create", lines)
        outcomes.add(("created", "new" in topics))
        topics.create("new", 3, exist_ok=True).append([Record(b"k", b"v", 1)])
        assert topics["new"].partitions == 3
        topics.delete("new")

        victims.run("delete", lines)
        outcomes.add(("kept", "t" in topics))
        if "t" in topics:
            assert next(topics["t"].read(0)).value == b"v"
            topics.delete("t")

    assert outcomes == {("created", True), ("created", False), ("kept", True), ("kept", False)}
