"""An application runs from topics to topics, reports its progress, and resumes from the last commit."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import brookmere as bm
from tests.run.homes import Home, count, shout

pytestmark = pytest.mark.usefixtures("spark")


def test_application_runs_from_topic_to_topic_and_reports_its_states(home: Home) -> None:
    home.write("in", "a", "b")
    application = home.application(shout())
    heard: list[tuple[str, str]] = []
    application.on_state_change(lambda new, old: heard.append((old, new)))
    assert application.state == "created"

    application.start()
    assert application.state == "running"
    application.process_all_available()
    assert not application.wait("0s")
    application.stop()
    application.stop()

    assert home.read("out") == ["a!", "b!"]
    assert heard == [("created", "running"), ("running", "stopping"), ("stopping", "stopped")]
    assert application.wait()
    assert application.error is None


def test_next_application_resumes_from_the_last_commit(home: Home) -> None:
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


def test_progress_reports_every_batch(home: Home) -> None:
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

    assert application.wait("60s")
    assert application.state == "stopped"
    assert home.read("out") == ["a!"]


def test_application_starts_once(home: Home) -> None:
    home.topics.create("in")
    application = home.application(shout())
    with (
        application,
        pytest.raises(bm.errors.UnsupportedError, match="shout is running, and an application starts"),
    ):
        application.start()

    with pytest.raises(bm.errors.UnsupportedError) as caught:
        application.start()

    assert str(caught.value) == (
        "shout is stopped, and an application starts once. "
        "Create a new bm.Application: it resumes from the last commit."
    )
    with pytest.raises(bm.errors.UnsupportedError, match="shout is stopped, so it processes nothing"):
        application.process_all_available()


def test_application_that_never_ran_can_be_stopped(home: Home) -> None:
    application = home.application(shout())

    application.stop()

    assert application.state == "stopped"
    with pytest.raises(bm.errors.UnsupportedError):
        application.start()


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
