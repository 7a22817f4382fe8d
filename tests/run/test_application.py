"""An application runs from topics to topics, tells what it does, and goes on where it stood."""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import brookmere as bm

pytestmark = pytest.mark.usefixtures("spark")


class Home:
    """Topics and state of a test."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.topics = bm.Topics(directory / "topics")

    def application(self, program: bm.StreamsBuilder | bm.Topology, **settings: Any) -> bm.Application:
        directories = {"topics.dir": self.topics.directory, "state.dir": self.directory / "state"}
        return bm.Application(program, {**directories, "num.stream.threads": 2}, **settings)

    def run(self, program: bm.StreamsBuilder, **settings: Any) -> bm.Application:
        """Run until everything is processed."""
        with self.application(program, **settings) as application:
            application.process_all_available()
        return application

    def write(self, topic: str, *values: str | bytes, key: str | None = "k") -> None:
        keys = None if key is None else key.encode()
        data = [value.encode() if isinstance(value, str) else value for value in values]
        self.topics.create(topic, exist_ok=True).append([bm.Record(keys, v, n) for n, v in enumerate(data)])

    def read(self, topic: str, value: bm.Serde | None = None) -> list[Any]:
        serde = value or bm.Text()
        found = self.topics[topic]
        return [serde.deserialize(r.value) for p in range(found.partitions) for r in found.read(p)]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def shout(name: str = "shout") -> bm.StreamsBuilder:
    app = bm.StreamsBuilder(name, key=bm.Text(), value=bm.Text())
    app.stream("in").map_values(lambda value: F.concat(value, F.lit("!"))).to("out")
    return app


def count() -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("count", key=bm.Text(), value=bm.Text())
    app.stream("in").group_by_key().count(store="counts").to_stream().to("out")
    return app


def numbers(**source: Any) -> bm.StreamsBuilder:
    """Reads numbers, and divides by them."""
    app = bm.StreamsBuilder("numbers", key=bm.Text(), value=bm.Int())
    app.stream("in", **source).map_values(lambda n: 60 / n, name="divide").to("out")
    return app


def number(n: int) -> bytes:
    data = bm.Int().serialize(n)
    assert data is not None
    return data


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_application_runs_from_topic_to_topic_and_tells_its_states(home: Home) -> None:
    home.write("in", "a", "b")
    application = home.application(shout())
    heard: list[tuple[str, str]] = []
    application.on_state_change(lambda new, old: heard.append((old, new)))
    assert application.state == "created"

    application.start()
    assert application.state == "running"
    application.process_all_available()
    assert not application.wait(0)
    application.stop()
    application.stop()

    assert home.read("out") == ["a!", "b!"]
    assert heard == [("created", "running"), ("running", "stopping"), ("stopping", "stopped")]
    assert application.wait()
    assert application.error is None


def test_next_application_goes_on_where_the_last_one_stood(home: Home) -> None:
    home.write("in", "a", "b")
    home.run(count())
    home.write("in", "c")

    home.run(count())

    assert home.read("out", bm.Long()) == [2, 3]


def test_records_that_come_while_it_runs_are_processed(home: Home) -> None:
    home.topics.create("in")
    with home.application(shout()) as application:
        for value in "abc":
            home.write("in", value)
            application.process_all_available()

    assert home.read("out") == ["a!", "b!", "c!"]


def test_progress_tells_of_every_batch(home: Home) -> None:
    home.write("in", *"abcdefg")
    heard: list[bm.Progress] = []
    application = home.application(count(), max__batch__records=3, statestore__cache__max__bytes=0)
    application.on_progress(heard.append)
    assert application.progress() is None

    with application:
        application.process_all_available()

    assert [(p.batch, p.records, p.total_records, p.lag) for p in heard] == [
        (0, 3, 3, 4),
        (1, 3, 6, 1),
        (2, 1, 7, 0),
    ]
    last = application.progress()
    assert last is not None
    assert (last.batch, last.total_records) == (2, 7)
    assert last.nodes["KSTREAM-SOURCE-0000000000"]["received"] == 7
    assert last.state_bytes > 0
    assert last.skipped == 0
    assert home.read("out", bm.Long()) == [1, 2, 3, 4, 5, 6, 7]


def test_batches_can_begin_at_intervals(home: Home) -> None:
    home.write("in", *"abc")

    home.run(shout(), commit__interval__ms=50)

    assert home.read("out") == ["a!", "b!", "c!"]


def test_cache_lets_the_last_update_of_a_batch_through(home: Home) -> None:
    home.write("in", *"abcdefg")

    home.run(count(), max__batch__records=3)

    assert home.read("out", bm.Long()) == [3, 6, 7]


def test_listeners_that_fail_are_logged_and_change_nothing(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise ValueError("no ears")

    home.write("in", "a")
    application = home.application(shout())
    application.on_progress(broken)
    application.on_state_change(broken)

    with application:
        application.process_all_available()

    assert application.state == "stopped"
    assert "a listener failed on the progress of batch 0" in caplog.text
    assert "a listener failed on the state stopped" in caplog.text


def test_listener_can_stop_the_application(home: Home) -> None:
    home.write("in", "a")
    application = home.application(shout())
    application.on_progress(lambda progress: application.stop())

    application.start()

    assert application.wait(60)
    assert application.state == "stopped"
    assert home.read("out") == ["a!"]


def test_application_starts_once(home: Home) -> None:
    home.topics.create("in")
    application = home.application(shout())
    with application, pytest.raises(bm.UnsupportedError, match="shout is running, and an application starts"):
        application.start()

    with pytest.raises(bm.UnsupportedError) as caught:
        application.start()

    assert str(caught.value) == (
        "shout is stopped, and an application starts once. "
        "Make a new bm.Application: it goes on where this one stood."
    )
    with pytest.raises(bm.UnsupportedError, match="shout is stopped, so it processes nothing"):
        application.process_all_available()


def test_application_that_never_ran_can_be_stopped(home: Home) -> None:
    application = home.application(shout())

    application.stop()

    assert application.state == "stopped"
    with pytest.raises(bm.UnsupportedError):
        application.start()


def test_missing_topic_is_refused_before_anything_is_made_and_can_be_mended(home: Home) -> None:
    application = home.application(shout())

    with pytest.raises(bm.TopologyError, match="brookmere topics create in --partitions 1"):
        application.start()
    assert application.state == "created"
    assert not (home.directory / "state").exists()

    home.write("in", "a")
    with application:
        application.process_all_available()
    assert home.read("out") == ["a!"]


def test_wrong_lambda_is_refused_before_topics_are_made(home: Home) -> None:
    home.topics.create("in")
    app = bm.StreamsBuilder("wrong", key=bm.Text(), value=bm.Json("n int"))
    app.stream("in").filter(lambda value: value.m > 1).to("out")
    application = home.application(app)

    for _ in range(2):
        with pytest.raises(bm.ExpressionError, match="'m', which is not there"):
            application.start()

    assert application.state == "created"
    assert home.topics.names() == ["in"]


def test_topics_that_must_be_alike_are_compared(home: Home) -> None:
    home.topics.create("a", 2)
    home.topics.create("b", 3)
    app = bm.StreamsBuilder("groups", key=bm.Text(), value=bm.Text())
    a, b = (app.stream(topic).group_by_key() for topic in "ab")
    a.cogroup(lambda value, agg: agg).cogroup(b, lambda value, agg: agg).aggregate("")

    with pytest.raises(bm.TopologyError, match="unequal numbers of partitions: a has 2, b has 3"):
        home.application(app).start()


def test_second_instance_is_refused_until_the_first_has_stopped(home: Home) -> None:
    home.topics.create("in")
    second = home.application(shout())
    with home.application(shout()):
        with pytest.raises(bm.InstanceError, match="'shout' is running already on the state directory"):
            second.start()
        assert second.state == "created"

    with second:
        assert second.state == "running"


def test_applications_of_a_process_share_the_session(home: Home, spark: SparkSession) -> None:
    home.write("in", "a")
    again = bm.StreamsBuilder("again", key=bm.Text(), value=bm.Text())
    again.stream("out").to("end")
    home.topics.create("out")

    with home.application(shout()) as first, home.application(again) as second:
        first.process_all_available()
        second.process_all_available()
        assert len(spark.streams.active) == 2

    assert home.read("end") == ["a!"]


def test_applications_can_be_started_and_stopped_by_any_thread(home: Home) -> None:
    home.write("in", "a")
    applications = [home.application(shout(name)) for name in ("one", "two")]

    def in_threads(calls: Iterable[Callable[[], object]]) -> None:
        threads = [threading.Thread(target=call) for call in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    in_threads(application.start for application in applications)
    in_threads(application.process_all_available for application in applications)
    in_threads(application.stop for application in applications * 2)

    assert [application.state for application in applications] == ["stopped", "stopped"]
    assert home.read("out") == ["a!", "a!"]


def test_application_id_can_be_another_than_the_programs(home: Home) -> None:
    home.write("in", "a")
    topology = shout().build()

    with home.application(topology, application__id="loud") as application:
        application.process_all_available()

    assert (application.application_id, application.state_directory.name) == ("loud", "loud")
    assert (application.state_directory / "checkpoint").is_dir()
    assert list(home.topics["out"].describe().writers) == ["loud"]
    assert home.run(shout()).application_id == "shout"
    assert home.read("out") == ["a!", "a!"]


def test_application_can_begin_at_the_end(home: Home) -> None:
    home.write("in", "old")
    with home.application(shout(), auto__offset__reset="latest") as application:
        application.process_all_available()
        home.write("in", "new")
        application.process_all_available()

    assert home.read("out") == ["new!"]


def test_application_without_positions_can_be_refused(home: Home) -> None:
    home.write("in", "a")
    with pytest.raises(bm.StateError, match=r"auto.offset.reset is none. Set it to earliest or latest"):
        home.application(shout(), auto__offset__reset="none").start()

    home.run(shout())
    home.write("in", "b")
    home.run(shout(), auto__offset__reset="none")

    assert home.read("out") == ["a!", "b!"]


def test_topic_that_was_created_again_is_refused(home: Home) -> None:
    home.write("in", "a")
    home.run(shout())
    home.topics.delete("in")
    home.write("in", "b")

    with pytest.raises(bm.StateError, match="the topic 'in' was deleted and created again"):
        home.application(shout()).start()


def test_functions_of_python_see_the_records(home: Home) -> None:
    home.write("in", "a", "b")
    seen: list[tuple[str, str]] = []
    app = bm.StreamsBuilder("tap", key=bm.Text(), value=bm.Text())
    app.stream("in").peek(lambda key, value: seen.append((key, value))).to("out")

    home.run(app)

    assert seen == [("k", "a"), ("k", "b")]
    assert home.read("out") == ["a", "b"]


def test_topics_that_records_name_are_created(home: Home) -> None:
    home.write("in", "x", "y", "x")
    app = bm.StreamsBuilder("route", key=bm.Text(), value=bm.Text())
    app.stream("in").to(lambda value: F.concat(F.lit("to-"), value))

    home.run(app, default__partitions=2)

    assert (home.read("to-x"), home.read("to-y")) == (["x", "x"], ["y"])
    assert home.topics["to-x"].partitions == 2


def test_record_that_fails_ends_the_application_with_its_error(home: Home) -> None:
    home.write("in", number(1), b"bad", number(2))
    application = home.application(numbers(), max__batch__records=1)
    heard: list[str] = []
    application.on_state_change(lambda new, old: heard.append(new))

    application.start()
    assert application.wait(60)

    assert (application.state, heard) == ("failed", ["running", "failed"])
    assert isinstance(application.error, bm.DeserializationError)
    assert (application.error.topic, application.error.offset) == ("in", 1)
    with pytest.raises(bm.DeserializationError):
        application.process_all_available()
    application.stop()
    assert application.state == "failed"
    assert home.read("out", bm.Double()) == [60.0]


def test_failure_leaves_a_with_block(home: Home) -> None:
    home.write("in", number(0))
    application = home.application(numbers())

    with pytest.raises(bm.ProcessingError, match="DIVIDE_BY_ZERO"), application:
        until(lambda: application.state == "failed")


def test_record_that_failed_is_a_dead_letter_once_and_can_be_passed(home: Home) -> None:
    home.write("in", number(1), number(0), number(2))
    dead = {"errors__dead__letter__queue__topic__name": "dead"}

    for _ in range(2):
        with pytest.raises(bm.ProcessingError):
            home.run(numbers(), **dead)
    (letter,) = home.topics["dead"].read(0)
    assert (letter.key, letter.value) == (b"k", number(0))
    headers = dict(letter.headers)
    assert headers["__streams.errors.exception"] == b"org.apache.spark.SparkArithmeticException"
    assert headers["__streams.errors.offset"] == b"1"
    assert b"SparkArithmeticException" in (headers["__streams.errors.stacktrace"] or b"")

    home.run(numbers(), processing__exception__handler="continue")
    assert home.read("out", bm.Double()) == [60.0, 30.0]


def test_bad_records_are_skipped_told_and_kept(home: Home, caplog: pytest.LogCaptureFixture) -> None:
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
    with pytest.raises(bm.ProcessingError):
        home.run(numbers(on_bad_record="continue"))


def test_topic_that_vanishes_ends_the_application_in_words(home: Home) -> None:
    home.write("in", "a")
    application = home.application(shout())
    application.start()
    application.process_all_available()

    home.topics.delete("in")

    assert application.wait(60)
    assert application.state == "failed"
    assert isinstance(application.error, bm.TopicError)
    assert str(application.error).startswith("The topic 'in' does not exist in ")


def test_damaged_topic_ends_the_application_in_words(home: Home) -> None:
    home.write("in", "a")
    (segment,) = (home.topics["in"].directory / "segments").iterdir()
    segment.write_bytes(segment.read_bytes()[:-1] + b"x")

    with pytest.raises(bm.TopicError, match=r"The segment .* of the topic 'in' is damaged"):
        home.run(shout())


def test_function_of_python_that_raises_ends_the_application_with_its_place(home: Home) -> None:
    home.write("in", "a")
    app = bm.StreamsBuilder("tap", key=bm.Text(), value=bm.Text())
    app.stream("in").peek(lambda key, value: {}[value]).to("out")

    with pytest.raises(bm.EngineError) as caught:
        home.run(app)

    text = str(caught.value)
    assert "A Python function that the program calls failed with KeyError: 'a' (" in text
    assert "test_application.py:" in text
    assert "spark.log" in text
    assert isinstance(caught.value.__cause__, KeyError)
    assert home.read("out") == []


def test_store_that_would_be_lost_is_refused(home: Home) -> None:
    home.write("in", "a")
    home.run(count())

    with pytest.raises(bm.StateError, match="the store 'counts' is of the kind auto, and the program asks"):
        home.application(count(), store__type="rocksdb").start()


def test_state_that_is_gone_is_told(home: Home) -> None:
    home.write("in", "a")
    state = home.run(count()).state_directory / "checkpoint" / "state"
    shutil.rmtree(state)
    home.write("in", "b")

    with pytest.raises(bm.StateError, match="The state of the application is not there"):
        home.run(count())


def test_checkpoint_that_is_nonsense_is_told(home: Home) -> None:
    home.write("in", "a")
    (home.run(shout()).state_directory / "checkpoint" / "offsets" / "0").write_text("nonsense")

    with pytest.raises(bm.StateError, match=r"offsets/0 is no entry of its log"):
        home.application(shout()).start()


def test_query_that_is_stopped_from_outside_is_a_failure(home: Home, spark: SparkSession) -> None:
    home.topics.create("in")
    application = home.application(shout())
    application.start()

    (query,) = spark.streams.active
    query.stop()

    assert application.wait(60)
    assert "was stopped from outside" in str(application.error)


def test_failed_application_frees_its_directory(home: Home) -> None:
    home.write("in", b"bad")
    for _ in range(2):
        with pytest.raises(bm.DeserializationError):
            home.run(numbers())
