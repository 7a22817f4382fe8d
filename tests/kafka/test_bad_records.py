"""Records that do not decode, or that a topic of Kafka does not take, go the way of the handlers."""

from __future__ import annotations

import logging
import time
from typing import Any

import pytest
from pyspark.sql import functions as F

import brookmere as bm
from tests.kafka.homes import KafkaHome
from tests.run.homes import number

pytestmark = pytest.mark.usefixtures("spark")

HOUR = 3_600_000


def copy(home: KafkaHome) -> bm.StreamsBuilder:
    app: bm.StreamsBuilder = home.builder("copy", bm.Bytes(), bm.Bytes())
    app.stream(home.name("in")).to(home.name("out"), name="copy")
    return app


@pytest.mark.parametrize("guarantee", ["exactly_once_v2", "at_least_once"])
@pytest.mark.parametrize(
    ("config", "bad", "words"),
    [
        (
            {"max__message__bytes": 2000},
            bm.Record(b"k", bytes(3000), 2),
            "RecordTooLargeException: the record has 3098 bytes, and the topic 'out' accepts 2000",
        ),
        (
            {"message__timestamp__before__max__ms": HOUR},
            bm.Record(b"k", b"old", int(time.time() * 1000) - 2 * HOUR),
            "InvalidTimestampException: the record's time",
        ),
        (
            {"message__timestamp__after__max__ms": HOUR},
            bm.Record(b"k", b"new", int(time.time() * 1000) + 2 * HOUR),
            "InvalidTimestampException: the record's time",
        ),
        (
            {"cleanup__policy": "compact"},
            bm.Record(None, b"no key", 2),
            "the topic 'out' is compacted, and the record has no key",
        ),
    ],
    ids=["large", "old", "new", "without-key"],
)
def test_record_that_a_topic_does_not_take_goes_to_the_production_handler(
    home: KafkaHome,
    config: dict[str, Any],
    bad: bm.Record,
    words: str,
    guarantee: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    home.create("in", message__timestamp__after__max__ms=24 * HOUR)
    home.create("out", **config)
    home.create("dead", message__timestamp__after__max__ms=24 * HOUR)
    present = int(time.time() * 1000)
    good = [bm.Record(b"k", value, present) for value in (b"a", b"b")]
    home.append("in", good[0], bad, good[1])
    settings: dict[str, Any] = {
        "processing__guarantee": guarantee,
        "errors__dead__letter__queue__topic__name": home.name("dead"),
    }

    with pytest.raises(bm.errors.ProductionError) as caught:
        home.run(copy(home), **settings)

    assert words.replace("'out'", f"'{home.name('out')}'") in str(caught.value)
    assert (caught.value.node, caught.value.topic, caught.value.offset) == ("copy", home.name("in"), 1)
    assert [r.value for r in home.records("dead")] == [bad.value]
    if guarantee == "exactly_once_v2":
        assert home.records("out") == []

    home.run(copy(home), production__exception__handler="continue", **settings)
    assert "skipped a record. A record could not be written at node copy" in caplog.text
    assert [r.value for r in home.records("out")][-2:] == [b"a", b"b"]
    letter = home.records("dead")[-1]
    assert (letter.key, letter.value, letter.timestamp) == (bad.key, bad.value, bad.timestamp)
    assert dict(letter.headers)["__streams.errors.offset"] == b"1"


def test_record_that_even_the_dead_letter_topic_does_not_take_stops_the_application(home: KafkaHome) -> None:
    home.create("in")
    home.append("in", bm.Record(b"k", b"bad", 1))
    home.create("dead", max__message__bytes=500)
    app = home.builder("numbers", value=bm.Int())
    app.stream(home.name("in")).to(home.name("out"))

    with pytest.raises(bm.errors.ProductionError) as caught:
        home.run(
            app,
            deserialization__exception__handler="continue",
            errors__dead__letter__queue__topic__name=home.name("dead"),
        )

    assert f"the dead-letter topic '{home.name('dead')}' rejects the record" in str(caught.value)
    assert home.records("out") == []


def test_topic_that_cannot_be_created_goes_to_the_production_handler(
    home: KafkaHome, caplog: pytest.LogCaptureFixture
) -> None:
    home.write("in", "a", "no/name", "b")
    app = home.builder("route")
    app.stream(home.name("in")).to(
        lambda value: F.when(value == "no/name", value).otherwise(F.lit(home.name("out")))
    )

    with pytest.raises(bm.errors.ProductionError) as caught:
        home.run(app)
    assert "the topic 'no/name' does not exist and cannot be created" in str(caught.value)

    with caplog.at_level(logging.WARNING):
        home.run(app, production__exception__handler="continue")
    assert home.read("out") == ["a", "b"]
    assert "the topic 'no/name' does not exist and cannot be created" in caplog.text


def test_records_that_do_not_decode_become_dead_letters_as_they_were(home: KafkaHome) -> None:
    headers = (("a", b"1"), ("b", None))
    home.create("in", 2)
    home.append(
        "in",
        bm.Record(b"k", number(2), 1, partition=0),
        bm.Record(b"k", b"bad", 2, headers, partition=0),
        bm.Record(None, b"worse", 3, partition=1),
        bm.Record(b"k", number(3), 4, partition=1),
    )
    app = home.builder("numbers", value=bm.Int())
    app.stream(home.name("in")).map_values(lambda n: 60 / n).to(home.name("out"))

    home.run(
        app,
        deserialization__exception__handler="continue",
        errors__dead__letter__queue__topic__name=home.name("dead"),
    )

    assert sorted(home.read("out", bm.Double())) == [20.0, 30.0]
    bad, worse = sorted(home.records("dead"), key=lambda letter: letter.timestamp)
    assert (bad.key, bad.value, bad.timestamp, bad.headers[:2]) == (b"k", b"bad", 2, headers)
    assert (worse.key, worse.value, worse.timestamp) == (None, b"worse", 3)
    place = [dict(worse.headers)[f"__streams.errors.{part}"] for part in ("topic", "partition", "offset")]
    assert place == [home.name("in").encode(), b"1", b"0"]


def test_record_that_stops_the_application_is_a_dead_letter_once(home: KafkaHome) -> None:
    home.create("in")
    home.append("in", bm.Record(b"k", number(1), 1), bm.Record(b"k", b"bad", 2, (("h", b"own"),)))
    app = home.builder("numbers", value=bm.Int())
    app.stream(home.name("in")).to(home.name("out"))

    for _ in range(2):
        with pytest.raises(bm.errors.DeserializationError):
            home.run(app, errors__dead__letter__queue__topic__name=home.name("dead"))

    (letter,) = home.records("dead")
    assert (letter.key, letter.value, letter.headers[0]) == (b"k", b"bad", ("h", b"own"))
