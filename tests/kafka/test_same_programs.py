"""A program of Kafka Streams and the same one of Brookmere, on the same topics, write the same records."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

from pyspark.sql import functions as F

import brookmere as bm
from tests.kafka.feeds import HEADERS, PARTITIONS, START, keyed
from tests.kafka.streams import Sides, Written

Name = Callable[[str], str]

SIZE, GRACE = timedelta(seconds=10), timedelta(seconds=5)
WINDOWS = {"size.ms": "10000", "grace.ms": "5000"}


def by_key(partition: Sequence[Written]) -> Mapping[bytes | None, list[Written]]:
    found: dict[bytes | None, list[Written]] = defaultdict(list)
    for record in partition:
        found[record[0]].append(record)
    return found


def test_word_counts_are_equal_partition_for_partition(sides: Sides, name: Name) -> None:
    # The words of each partition are its own but for one: what comes first among partitions is open.
    chance = random.Random(4)
    lines = []
    words = 0
    for place in range(90):
        partition = place % PARTITIONS
        line = [f"Word-{partition}-{chance.randrange(5)}" for _ in range(chance.randrange(1, 5))]
        line += ["everywhere"] if chance.random() < 0.3 else []
        value = None if chance.random() < 0.1 else " ".join(line).encode()
        words += len(line) if value is not None else 0
        headers = HEADERS if chance.random() < 0.3 else ()
        time = START + 1000 * place - chance.choice([0, 0, 20_000])
        key = None if place % 4 else b"key"
        lines.append(bm.Record(key, value, time, headers, partition=partition))
    sides.fill(name("in"), lines)
    for out in ("theirs", "ours"):
        sides.topics.create(name(out), PARTITIONS, {"retention.ms": -1})
    app = bm.StreamsBuilder(name("app"), key=bm.Text(), value=bm.Text())
    found = app.stream(name("in")).flat_map_values(lambda line: F.split(F.lower(line), " "))
    counts = found.group_by(lambda _, word: word).count()
    counts.to_stream().to(name("ours"), value=bm.Long())

    given = {"in": name("in"), "out": name("theirs")}
    sides.streams("word-count", name("streams"), given, records=len(lines) + words)
    sides.brookmere(app)

    theirs, ours = sides.written(name("theirs")), sides.written(name("ours"))
    assert sum(map(len, theirs)) == words
    for their, our in zip(map(by_key, theirs), map(by_key, ours), strict=True):
        assert our.keys() == their.keys()
        for word in their.keys() - {b"everywhere"}:
            assert our[word] == their[word]
        # Of what all partitions have in common, only which record made which count is open.
        if b"everywhere" in their:
            ours_of_all, theirs_of_all = our[b"everywhere"], their[b"everywhere"]
            assert [record[1] for record in ours_of_all] == [record[1] for record in theirs_of_all]
            assert ours_of_all[-1][2] == theirs_of_all[-1][2]


def test_windowed_counts_are_equal_partition_for_partition(sides: Sides, name: Name) -> None:
    records = keyed(5, 300, keys=10)
    sides.fill(name("in"), records)
    for out in ("theirs", "ours"):
        sides.topics.create(name(out), PARTITIONS, {"retention.ms": -1})
    app = bm.StreamsBuilder(name("app"), key=bm.Text(), value=bm.Bytes())
    counts = app.stream(name("in")).group_by_key().windowed_by(bm.TimeWindows(SIZE, grace=GRACE)).count()
    counts.to_stream().to(name("ours"), key=bm.Windowed(bm.Text()), value=bm.Long())

    given = {"in": name("in"), "out": name("theirs"), **WINDOWS}
    sides.streams("tumbling", name("streams"), given, records=len(records))
    sides.brookmere(app)

    theirs, ours = sides.written(name("theirs")), sides.written(name("ours"))
    assert ours == theirs
    assert all(0 < len(partition) < 200 for partition in theirs)


def test_stream_table_joins_are_equal_partition_for_partition(sides: Sides, name: Name) -> None:
    stream, table = keyed(6, 200, keys=10), keyed(7, 100, keys=12)
    sides.fill(name("in"), stream)
    sides.fill(name("table"), table)
    for out in ("theirs", "ours"):
        sides.topics.create(name(out), PARTITIONS, {"retention.ms": -1})
    app = bm.StreamsBuilder(name("app"), key=bm.Text(), value=bm.Text())
    joined = app.stream(name("in")).left_join(
        app.table(name("table")), lambda left, right: F.concat_ws(" ", left, right)
    )
    joined.to(name("ours"))

    given = {"in": name("in"), "table": name("table"), "out": name("theirs")}
    sides.streams("left-join", name("streams"), given, records=len(stream) + len(table))
    sides.brookmere(app)

    theirs, ours = sides.written(name("theirs")), sides.written(name("ours"))
    # Records without a key go to any partition.
    with_keys = [
        [[r for r in partition if r[0] is not None] for partition in side] for side in (theirs, ours)
    ]
    without = [[r for partition in side for r in partition if r[0] is None] for side in (theirs, ours)]
    assert with_keys[1] == with_keys[0]
    assert sorted(without[1]) == sorted(without[0])
    assert any(b" " in (record[1] or b"") for record in theirs[0])
