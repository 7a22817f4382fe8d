"""An application runs from topics of Kafka to topics of Kafka, and goes on where it stood."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from confluent_kafka import Producer
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.jars import resolve
from brookmere.kernel.java import java_command
from tests.kafka.homes import KafkaHome
from tests.run.homes import until

pytestmark = pytest.mark.usefixtures("spark")


def test_next_application_goes_on_where_the_last_one_stood(home: KafkaHome) -> None:
    home.write("in", "a", "b")
    home.run(home.count())
    home.write("in", "c")

    home.run(home.count())

    assert home.read("out", bm.Long()) == [2, 3]


def test_records_that_come_while_it_runs_are_processed(home: KafkaHome) -> None:
    home.create("in", 3)
    with home.application(home.shout()) as application:
        for value in "abc":
            home.write("in", value, key=value)
            application.process_all_available()

    assert sorted(home.read("out")) == ["a!", "b!", "c!"]


@pytest.mark.parametrize("guarantee", ["exactly_once_v2", "at_least_once"])
def test_record_keeps_its_time_headers_and_nulls(home: KafkaHome, guarantee: str) -> None:
    home.create("in", 2)
    home.create("out", 2)
    headers = (("a", b"1"), ("b", None), ("a", b"\xff"))
    home.append(
        "in",
        bm.Record(b"k", b"v", 5, headers, partition=0),
        bm.Record(None, b"no key", 6, partition=0),
        bm.Record(b"gone", None, 7, partition=1),
        bm.Record(None, None, 8, headers, partition=1),
        bm.Record(b"", b"", 9, partition=1),
    )
    app = home.builder("copy", bm.Bytes(), bm.Bytes())
    app.stream(home.name("in")).to(home.name("out"))

    home.run(app, processing__guarantee=guarantee)

    found = sorted(home.records("out"), key=lambda r: r.timestamp)
    assert [(r.key, r.value, r.timestamp, r.headers) for r in found] == [
        (b"k", b"v", 5, headers),
        (None, b"no key", 6, ()),
        (b"gone", None, 7, ()),
        (None, None, 8, headers),
        (b"", b"", 9, ()),
    ]
    # Records without a key stay with their task, as they do in Kafka Streams' own order.
    assert [r.partition for r in found if r.key is None] == [0, 1]


@pytest.mark.parametrize("versions", [["a b", "a b"], ["a b", "b", "a b"]], ids=["same", "other-topics"])
def test_batch_that_is_repeated_writes_nothing_twice(home: KafkaHome, versions: list[str]) -> None:
    home.create("a", 2)
    home.create("b", 2)
    for number, version in enumerate(versions):
        home.append("b", *(bm.Record(b"%d" % key, b"b%d" % number, 1) for key in range(8)))
        app = home.builder("copy")
        app.stream([home.name(topic) for topic in version.split()]).to(home.name("out"))

        for _ in range(2):
            application = home.run(app)
            _forget_last_batch(application)

        assert sorted(home.read("out")) == [f"b{n}" for n in range(number + 1) for _ in range(8)]


def _forget_last_batch(application: bm.Application) -> None:
    """Leave what a crash leaves between the transactions of a batch and what Spark notes about it."""
    commits = application.state_directory / "checkpoint" / "commits"
    (commits / max((file.name for file in commits.iterdir() if file.name.isdigit()), key=int)).unlink()


def test_topics_of_a_pattern_are_read_and_a_new_one_is_told(
    home: KafkaHome, caplog: pytest.LogCaptureFixture
) -> None:
    home.write("p-1", "a")
    home.write("p-2", "b")
    app = home.builder("match")
    app.stream(re.compile(f"p-.-{home.name('')[1:]}")).to(home.name("out"))

    with home.application(app, metadata__max__age__ms=500) as application:
        application.process_all_available()
        home.write("p-3", "c")
        until(lambda: f"The topic '{home.name('p-3')}' is new and matches a pattern" in caplog.text)
    assert sorted(home.read("out")) == ["a", "b"]

    home.run(app)
    assert sorted(home.read("out")) == ["a", "b", "c"]


def test_only_committed_records_are_processed(home: KafkaHome) -> None:
    topic = home.create("in")
    producer = Producer(
        {"bootstrap.servers": home.broker.bootstrap_servers, "transactional.id": home.name("tx")}
    )
    producer.init_transactions()

    def send(value: str) -> None:
        producer.begin_transaction()
        producer.produce(topic, value.encode(), timestamp=1)
        producer.flush()

    with home.application(home.shout()) as application:
        send("aborted")
        producer.abort_transaction()
        send("open")
        # Stands behind what is open, so it is not seen either.
        home.write("in", "behind")
        application.process_all_available()
        assert home.read("out") == []
        producer.commit_transaction()
        application.process_all_available()

    assert home.read("out") == ["open!", "behind!"]


def test_limit_of_a_batch_does_not_change_the_order(home: KafkaHome) -> None:
    rnd = random.Random(7)
    for topic in ("left", "right"):
        home.create(topic, 2)
        now, records = 1000, []
        for n in range(600):
            # Long runs of one time, and some that are late.
            now += rnd.choice((0, 0, 0, 0, 5)) if 150 < n < 350 else rnd.randint(0, 4)
            key = f"k{rnd.randrange(30)}".encode()
            records.append(bm.Record(key, f"{topic[0]}{n}".encode(), now - rnd.choice((0, 0, 0, 9))))
        home.append(topic, *records)

    found = []
    for limit in (100, 1000, 0):
        app = home.builder(f"join-{limit}")
        app.stream(home.name("left")).left_join(
            app.table(home.name("right")),
            lambda left, right: F.concat(left, F.lit("/"), F.coalesce(right, F.lit("-"))),
        ).to(home.name(f"out-{limit}"))
        application = home.run(app, max__batch__records=limit)
        progress = application.progress()
        assert progress is not None
        assert progress.total_records == 1200
        assert progress.batch >= {100: 6, 1000: 1, 0: 0}[limit]
        found.append([(r.key, r.value, r.timestamp) for r in home.records(f"out-{limit}")])
    assert len(found[0]) == 600
    assert found[0] == found[2]
    assert found[1] == found[2]


def test_topic_with_gaps_is_read_to_its_end(home: KafkaHome) -> None:
    topic = home.create(
        "in",
        cleanup__policy="compact",
        segment__ms=1,
        min__cleanable__dirty__ratio=0,
        max__compaction__lag__ms=1,
    )
    for n in range(3):
        home.append("in", *(bm.Record(b"k%d" % (k % 4), b"%d" % n, 1 + k) for k in range(20)))

    with home.application(home.shout(), max__batch__records=7) as application:
        application.process_all_available()
        home.write("in", "last")
        application.process_all_available()

    kept = {r.offset: r.value for r in home.topics[topic].read(0)}
    written = home.read("out")
    assert written[-1] == "last!"
    assert len(written) >= len(kept)


def test_global_table_and_routing_to_new_topics(home: KafkaHome) -> None:
    home.create("in", 2)
    home.create("names", 3)
    home.append("names", *(bm.Record(f"k{n}".encode(), f"to-{n % 2}".encode(), 1) for n in range(4)))
    home.append("in", *(bm.Record(f"k{n}".encode(), b"v%d" % n, 10 + n) for n in range(4)))
    app = home.builder("route")
    mark = home.name("")
    app.stream(home.name("in")).join(
        app.global_table(home.name("names")),
        key=lambda key, value: key,
        joiner=lambda value, name: F.concat(name, F.lit(mark), F.lit("="), value),
    ).to(lambda value: F.split(value, "=")[0])

    home.run(app, default__partitions=2)

    assert home.topics[home.name("to-0")].partitions == 2
    assert sorted(home.read("to-0")) == [f"to-0{mark}=v0", f"to-0{mark}=v2"]
    assert sorted(home.read("to-1")) == [f"to-1{mark}=v1", f"to-1{mark}=v3"]


def test_windows_close_by_the_wall_clock_and_have_their_keys(home: KafkaHome) -> None:
    home.write("in", "a", "b", start=5000)
    app = home.builder("windows")
    windows = bm.TimeWindows(size=timedelta(seconds=1), grace=timedelta(0))
    app.stream(home.name("in")).group_by_key().windowed_by(
        windows, emit="close", close_idle_after=timedelta(milliseconds=100)
    ).count().to_stream().to(home.name("out"))

    with home.application(app, wall__clock__interval__ms=50):
        until(lambda: len(home.records("out")) == 1)

    (record,) = home.records("out")
    assert record.key == b"k" + (5000).to_bytes(8, "big")
    assert record.value == bm.Long().serialize(2)


def groups(home: KafkaHome, group: str) -> dict[tuple[str, int], list[str]]:
    """What Kafka's own tool shows: the position, the end and the lag of each partition."""
    tool = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
    path = ":".join(map(str, resolve("kafka-broker")))
    at = ["--bootstrap-server", home.broker.bootstrap_servers, "--describe", "--group", group]
    command = [str(java_command()), "-XX:TieredStopAtLevel=1", "-cp", path, tool, *at]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    lines = [line.split() for line in said.splitlines() if line.startswith(group)]
    return {(line[1], int(line[2])): line[3:6] for line in lines}


def test_lag_is_what_the_tools_of_kafka_show(home: KafkaHome) -> None:
    topic = home.create("in", 2)
    home.append("in", *(bm.Record(None, b"v", 1, partition=n % 2) for n in range(10)))
    app = home.shout()
    with home.application(app) as application:
        application.process_all_available()
        home.append("in", *(bm.Record(None, b"w", 2, partition=0) for _ in range(2)))
        application.process_all_available()
    home.append("in", *(bm.Record(None, b"x", 3, partition=1) for _ in range(3)))

    assert groups(home, app.application_id) == {(topic, 0): ["7", "7", "0"], (topic, 1): ["5", "8", "3"]}


def test_command_line_runs_an_application_on_kafka(home: KafkaHome, tmp_path: Path) -> None:
    home.write("in", "hello")
    (tmp_path / "program.py").write_text(
        "from pyspark.sql import functions as F\n"
        "import brookmere as bm\n"
        f"app = bm.StreamsBuilder({home.name('cli')!r}, key=bm.Text(), value=bm.Text())\n"
        f"app.stream({home.name('in')!r}).map_values(lambda value: F.upper(value)).to({home.name('out')!r})\n"
    )
    servers = home.broker.bootstrap_servers
    command = ["brookmere", "run", "program.py", "-c", f"bootstrap.servers={servers}", "--until-idle"]

    done = subprocess.run(
        [sys.executable, "-m", *command, "--state-dir", "state"],
        cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert f"Kafka topics at {servers}" in done.stderr
    assert home.read("out") == ["HELLO"]
