"""Records, topics and functions that fail end an application with a clear error, or are skipped and kept."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import brookmere as bm
from tests.run.homes import Home, number, numbers, shout, until

pytestmark = pytest.mark.usefixtures("spark")


def test_record_that_fails_ends_the_application_with_its_error(home: Home) -> None:
    home.write("in", number(1), b"bad", number(2))
    application = home.application(numbers(), max__batch__records=1)
    heard: list[str] = []
    application.on_state_change(lambda new, old: heard.append(new))

    application.start()
    assert application.wait("60s")

    assert (application.state, heard) == ("failed", ["running", "failed"])
    assert isinstance(application.error, bm.errors.DeserializationError)
    assert (application.error.topic, application.error.offset) == ("in", 1)
    with pytest.raises(bm.errors.DeserializationError):
        application.process_all_available()
    application.stop()
    assert application.state == "failed"
    assert home.read("out", bm.Double()) == [60.0]


def test_failure_is_raised_at_the_end_of_a_with_block(home: Home) -> None:
    home.write("in", number(0))
    application = home.application(numbers())

    with pytest.raises(bm.errors.ProcessingError, match="DIVIDE_BY_ZERO"), application:
        until(lambda: application.state == "failed")


def test_record_that_failed_is_a_dead_letter_once_and_can_be_passed(home: Home) -> None:
    home.write("in", number(1), number(0), number(2))
    dead = {"errors__dead__letter__queue__topic__name": "dead"}

    for _ in range(2):
        with pytest.raises(bm.errors.ProcessingError):
            home.run(numbers(), **dead)
    (letter,) = home.topics["dead"].read(0)
    assert (letter.key, letter.value) == (b"k", number(0))
    headers = dict(letter.headers)
    assert headers["__streams.errors.exception"] == b"org.apache.spark.SparkArithmeticException"
    assert headers["__streams.errors.offset"] == b"1"
    assert b"SparkArithmeticException" in (headers["__streams.errors.stacktrace"] or b"")

    home.run(numbers(), processing__exception__handler="continue")
    assert home.read("out", bm.Double()) == [60.0, 30.0]


def test_bad_records_are_skipped_logged_and_kept(home: Home, caplog: pytest.LogCaptureFixture) -> None:
    home.write("in", number(1), b"bad", number(0), number(2))
    skip = {
        f"{kind}__exception__handler": "continue" for kind in ("deserialization", "processing", "production")
    }

    with caplog.at_level(logging.WARNING):
        application = home.run(numbers(), errors__dead__letter__queue__topic__name="dead", **skip)

    assert home.read("out", bm.Double()) == [60.0, 30.0]
    letters = list(home.topics["dead"].read(0))
    assert [(letter.value, letter.timestamp) for letter in letters] == [(b"bad", 1), (number(0), 2)]
    assert [dict(letter.headers)["__streams.errors.offset"] for letter in letters] == [b"1", b"2"]
    progress = application.progress()
    assert progress is not None
    assert progress.skipped == 2
    assert progress.nodes["divide"]["failed"] == 1
    told = [record.getMessage() for record in caplog.records if "skipped a record" in record.getMessage()]
    assert len(told) == 2
    assert told[0].startswith("numbers skipped a record. A record could not be read at node KSTREAM-SOURCE")


def test_source_can_skip_bad_records_on_its_own(home: Home, caplog: pytest.LogCaptureFixture) -> None:
    home.write("in", b"bad", number(2))

    home.run(numbers(on_bad_record="continue"), errors__dead__letter__queue__topic__name="dead")

    assert home.read("out", bm.Double()) == [30.0]
    assert [letter.value for letter in home.topics["dead"].read(0)] == [b"bad"]
    assert "numbers skipped a record" in caplog.text
    home.write("in", number(0))
    with pytest.raises(bm.errors.ProcessingError):
        home.run(numbers(on_bad_record="continue"))


def test_topic_that_vanishes_ends_the_application_in_words(home: Home) -> None:
    home.write("in", "a")
    application = home.application(shout())
    application.start()
    application.process_all_available()

    home.topics.delete("in")

    assert application.wait("60s")
    assert application.state == "failed"
    assert isinstance(application.error, bm.errors.TopicError)
    assert str(application.error).startswith("The topic 'in' does not exist in ")


def test_damaged_topic_ends_the_application_in_words(home: Home) -> None:
    home.write("in", "a")
    (segment,) = (home.topics["in"].directory / "segments").iterdir()
    segment.write_bytes(segment.read_bytes()[:-1] + b"x")

    with pytest.raises(bm.errors.TopicError, match=r"The segment .* of the topic 'in' is damaged"):
        home.run(shout())


def test_function_of_python_that_raises_ends_the_application_with_its_place(home: Home) -> None:
    home.write("in", "a")
    app = bm.StreamsBuilder("tap", key=bm.Text(), value=bm.Text())
    app.stream("in").peek(lambda key, value: {}[value]).to("out")

    with pytest.raises(bm.errors.EngineError) as caught:
        home.run(app)

    text = str(caught.value)
    assert "A Python function of the program failed with KeyError: 'a' (" in text
    assert f"{Path(__file__).name}:" in text
    assert "spark.log" in text
    assert isinstance(caught.value.__cause__, KeyError)
    assert home.read("out") == []


def test_query_that_is_stopped_from_outside_is_a_failure(home: Home, spark: SparkSession) -> None:
    home.topics.create("in")
    application = home.application(shout())
    application.start()

    (query,) = spark.streams.active
    query.stop()

    assert application.wait("60s")
    assert "was stopped from outside" in str(application.error)


def test_failed_application_frees_its_directory(home: Home) -> None:
    home.write("in", b"bad")
    for _ in range(2):
        with pytest.raises(bm.errors.DeserializationError):
            home.run(numbers())
