"""An application runs from topics of Kafka to topics of Kafka, and goes on where it stood."""

from __future__ import annotations

import pytest

import brookmere as bm
from tests.kafka.homes import KafkaHome

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
