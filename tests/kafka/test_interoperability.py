"""What Brookmere writes to Kafka is read by others, and what Kafka Streams writes is read by Brookmere."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.broker import Broker
from brookmere.topics.kafka import KafkaTopics
from tests.kafka import readers
from tests.kafka.feeds import HEADERS, START, keyed
from tests.kafka.streams import Sides

Name = Callable[[str], str]

SIZE, GRACE = timedelta(seconds=10), timedelta(seconds=5)
WINDOWS = {"size.ms": "10000", "grace.ms": "5000"}

RECORDS = (
    bm.Record(b"a", b"first", START, HEADERS, partition=0),
    bm.Record(b"a", None, START + 1, partition=0),
    bm.Record(None, b"keyless", START - 5000, (("only", b"x"),), partition=1),
    bm.Record("schlüssel".encode(), "wért".encode(), 1, partition=1),
)


@pytest.fixture(scope="module")
def copied(kafka: Broker, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    sides = Sides(
        KafkaTopics({"bootstrap.servers": kafka.bootstrap_servers}), tmp_path_factory.mktemp("copy")
    )
    sides.fill("copy-in", RECORDS, 2)
    sides.topics.create("copy-out", 1, {"retention.ms": -1})
    app = bm.StreamsBuilder("copy", key=bm.Bytes(), value=bm.Bytes())
    app.stream("copy-in").to("copy-out")
    sides.brookmere(app)
    return "copy-out"


def test_confluent_kafka_reads_keys_values_times_and_headers(kafka: Broker, copied: str) -> None:
    found = readers.confluent(kafka.bootstrap_servers, copied, 1)

    shown = {(one["key"], one["value"], one["ts"], tuple(one["headers"])) for one in found}  # type: ignore[arg-type]
    assert len(found) == len(RECORDS)
    assert shown == {(r.key, r.value, r.timestamp, r.headers) for r in RECORDS}


def test_kafkas_console_consumer_reads_keys_values_times_and_headers(kafka: Broker, copied: str) -> None:
    lines = readers.console_consumer(kafka.bootstrap_servers, copied, len(RECORDS))

    found = sorted(line.split("\t", 3)[0] + "\t" + line.split("\t", 3)[3] for line in lines)
    assert found == sorted(
        [
            f"CreateTime:{START}\ttrace:1,empty:null,trace:2\ta\tfirst",
            f"CreateTime:{START + 1}\tNO_HEADERS\ta\tnull",
            f"CreateTime:{START - 5000}\tonly:x\tnull\tkeyless",
            "CreateTime:1\tNO_HEADERS\tschlüssel\twért",
        ]
    )


def test_kcat_reads_keys_values_times_and_headers(kafka: Broker, copied: str) -> None:
    kcat = readers.find_kcat()
    if isinstance(kcat, str):
        pytest.skip(kcat)

    found = readers.kcat(*kcat, kafka.bootstrap_servers, copied)

    shown = [(one["key"], one["payload"], one["ts"], one.get("headers", [])) for one in found]
    assert sorted(shown, key=str) == sorted(
        [
            ("a", "first", START, ["trace", "1", "empty", None, "trace", "2"]),
            ("a", None, START + 1, []),
            (None, "keyless", START - 5000, ["only", "x"]),
            ("schlüssel", "wért", 1, []),
        ],
        key=str,
    )


def test_kafka_streams_reads_the_time_windows_that_brookmere_writes(sides: Sides, name: Name) -> None:
    sides.fill(name("in"), keyed(1, 30, keys=3))
    sides.topics.create(name("out"), 1)
    app = bm.StreamsBuilder(name("app"), key=bm.Text(), value=bm.Bytes())
    counts = app.stream(name("in")).group_by_key().windowed_by(bm.TimeWindows(SIZE, grace=GRACE)).count()
    counts.to_stream().to(name("out"), key=bm.Windowed(bm.Text()), value=bm.Long())
    sides.brookmere(app)

    keys = [record[0] or b"" for record in sides.written(name("out"))[0]]
    read = sides.keys("time:10000", "read", [key.hex() for key in keys])

    own = [bm.Windowed(bm.Text(), size=SIZE).deserialize(key) for key in keys]
    assert keys
    assert read == [f"{key.key}\t{key.start}\t{key.end}" for key in own]
    assert {key.start % 10_000 for key in own} == {0}


def test_kafka_streams_reads_the_session_windows_that_brookmere_writes(sides: Sides, name: Name) -> None:
    sides.fill(name("in"), keyed(2, 30, keys=3))
    sides.topics.create(name("out"), 1)
    app = bm.StreamsBuilder(name("app"), key=bm.Text(), value=bm.Bytes())
    windows = bm.SessionWindows(SIZE, grace=GRACE)
    counts = app.stream(name("in")).group_by_key().windowed_by(windows).count()
    counts.to_stream().to(name("out"), key=bm.Windowed(bm.Text(), session=True), value=bm.Long())
    sides.brookmere(app)

    keys = [record[0] or b"" for record in sides.written(name("out"))[0]]
    read = sides.keys("session", "read", [key.hex() for key in keys])

    own = [bm.Windowed(bm.Text(), session=True).deserialize(key) for key in keys]
    assert keys
    assert read == [f"{key.key}\t{key.start}\t{key.end}" for key in own]
    assert any(key.end > key.start for key in own)


@pytest.mark.parametrize(
    ("program", "kind", "serde"),
    [
        ("tumbling", "time:10000", bm.Windowed(bm.Text(), size=SIZE)),
        ("session-count", "session", bm.Windowed(bm.Text(), session=True)),
    ],
)
def test_brookmere_reads_the_windows_that_kafka_streams_writes(
    sides: Sides, name: Name, program: str, kind: str, serde: bm.Windowed
) -> None:
    records = keyed(3, 30, keys=3)
    sides.fill(name("in"), records)
    sides.topics.create(name("windows"), 1)
    sides.topics.create(name("out"), 1)
    given = {"in": name("in"), "out": name("windows"), **WINDOWS}
    sides.streams(program, name("streams"), given, records=len(records))
    app = bm.StreamsBuilder(name("app"))
    read = app.stream(name("windows"), key=serde, value=bm.Long())
    shown = read.map(
        lambda key, value: (F.concat_ws("\t", key["key"], key["start"], key["end"]), value.cast("string"))
    )
    shown.to(name("out"), key=bm.Text(), value=bm.Text())

    sides.brookmere(app)

    keys = [record[0] or b"" for record in sides.written(name("windows"))[0]]
    own = [(record[0] or b"").decode() for record in sides.written(name("out"))[0]]
    assert keys
    assert own == sides.keys(kind, "read", [key.hex() for key in keys])
    assert sides.keys(kind, "write", own) == [key.hex() for key in keys]
