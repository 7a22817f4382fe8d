"""Several processes append, read and clean at once; nothing is lost, and offsets are dense."""

from __future__ import annotations

import subprocess

import pyarrow as pa

from brookmere.topics import Topics
from tests.topics.conftest import Start

WRITE = """
    import sys
    import brookmere as bm
    topic = bm.Topics(sys.argv[1])["t"]
    name, appends = sys.argv[2], int(sys.argv[3])
    print("ready", flush=True)
    sys.stdin.readline()
    number = 0
    for turn in range(appends):
        records = []
        for _ in range(turn % 4 + 1):
            records.append(bm.Record(name.encode(), b"%d" % number, number))
            number += 1
        topic.append(records)
    print(number, flush=True)
"""

READ = """
    import sys
    import brookmere as bm
    topic = bm.Topics(sys.argv[1])["t"]
    print("ready", flush=True)
    sys.stdin.readline()
    total, rounds, seen = int(sys.argv[2]), 0, 0
    while seen < total:
        seen = 0
        for partition in range(topic.partitions):
            offsets = [record.offset for record in topic.read(partition)]
            assert offsets == list(range(len(offsets))), offsets
            seen += len(offsets)
        rounds += 1
    print(seen, rounds, flush=True)
"""

CLEAN = """
    import sys
    import brookmere as bm
    topic = bm.Topics(sys.argv[1])["t"]
    print("ready", flush=True)
    sys.stdin.readline()
    while sum(topic.end_offsets()) < int(sys.argv[2]):
        topic.maintain(full=True)
    print("done", flush=True)
"""


def go(processes: list[subprocess.Popen[str]]) -> list[str]:
    """Let all of them begin together, and return the last word of each."""
    for process in processes:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    return [process.stdout.readline().strip() for process in processes if process.stdout]


def test_many_processes_append_read_and_clean_at_once(topics: Topics, start: Start) -> None:
    topic = topics.create("t", 2, {"file.delete.delay.ms": 0})
    appends, writers = 80, 3
    each = sum(turn % 4 + 1 for turn in range(appends))
    total = writers * each

    directory = topics.directory
    said = go(
        [
            *(start(WRITE, directory, f"writer {number}", appends) for number in range(writers)),
            *(start(READ, directory, total) for _ in range(2)),
            start(CLEAN, directory, total),
        ]
    )

    assert said[:writers] == [str(each)] * writers
    assert [word.split()[0] for word in said[writers : writers + 2]] == [str(total)] * 2
    assert said[-1] == "done"
    values: dict[bytes, list[int]] = {}
    for partition in range(2):
        records = list(topic.read(partition))
        assert [record.offset for record in records] == list(range(len(records)))
        for record in records:
            values.setdefault(record.key, []).append(int(record.value))
    assert values == {f"writer {number}".encode(): list(range(each)) for number in range(writers)}
    assert topic.repair().damages == ()


def test_who_reads_while_a_topic_is_deleted_gets_everything_or_one_clear_error(
    topics: Topics, start: Start
) -> None:
    program = """
        import sys
        import brookmere as bm
        topics = bm.Topics(sys.argv[1])
        topic = topics["t"]
        writes = sys.argv[2] == "write"
        print("ready", flush=True)
        sys.stdin.readline()
        print("begun", flush=True)
        try:
            while True:
                if writes:
                    topic.append([bm.Record(b"k", b"v", 1)])
                else:
                    assert len(list(topic.read(0))) >= 20
        except bm.errors.UnknownTopicError as error:
            print("deleted" if "was deleted while it was in use" in str(error) else error, flush=True)
    """
    topic = topics.create("t")
    for _ in range(10):
        topic.append_batch(0, pa.table({"value": [b"1", b"2"]}))
    users = [start(program, topics.directory, what) for what in ("write", "read")]
    assert go(users) == ["begun"] * 2

    topics.delete("t")

    assert [user.stdout.readline() for user in users if user.stdout] == ["deleted\n"] * 2
    assert list(topics.directory.iterdir()) == []
