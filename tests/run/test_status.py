"""A running application keeps a file with its status up to date."""

from __future__ import annotations

import os
from datetime import timedelta

import pytest

import brookmere as bm
from brookmere.state.description.status import Status, read_status
from tests.run.homes import Home, count, until

pytestmark = pytest.mark.usefixtures("spark")


def status_of(application: bm.Application) -> Status:
    found = read_status(application.state_directory)
    assert found is not None
    return found


def test_an_application_that_was_not_started_is_created(home: Home) -> None:
    status = home.application(count()).status()

    assert (status.application, status.state, status.started, status.batch) == (
        "count",
        "created",
        None,
        None,
    )


def test_the_file_follows_the_batches(home: Home) -> None:
    home.write("in", "x", "y")
    with home.application(count()) as application:
        application.process_all_available()
        until(lambda: (read_status(application.state_directory) or application.status()).records == 2)

        status = status_of(application)
        home.write("in", "z")
        until(lambda: status_of(application).records == 3)

    assert (status.state, status.pid, status.error) == ("running", os.getpid(), None)
    assert (status.started or 0) <= (status.batch_time or 0) <= status.time
    nodes = {node.name: node for node in status.nodes}
    assert nodes["KSTREAM-SOURCE-0000000000"].received == 2
    assert not any(name.startswith("changelog") for name in nodes)
    (topic,) = status.inputs
    assert (topic.topic, topic.position, topic.end, topic.lag) == ("in", (2,), (2,), 0)
    (stage,) = status.stages
    assert stage.stores == ("counts",)
    (store,) = status.stores
    assert (store.name, store.kind, store.topic, store.is_followed) == (
        "counts", "key_value", "count-counts-changelog", False,
    )  # fmt: skip


def test_a_replica_in_the_process_is_in_the_status(home: Home) -> None:
    home.write("in", "x", "y")
    with home.application(count()) as application:
        application.process_all_available()
        application.store("counts")

        (store,) = application.status().stores

    assert (store.is_followed, store.is_ready, store.entries, store.lag) == (True, True, 1, 0)


def test_the_last_state_is_in_the_file_when_the_application_has_stopped(home: Home) -> None:
    home.write("in", "x")
    application = home.run(count())

    status = status_of(application)

    assert (status.state, status.records) == ("stopped", 1)


def test_a_failure_is_in_the_file(home: Home) -> None:
    home.write("in", b"\xff")
    application = home.application(count())
    application.start()
    application.wait()

    status = status_of(application)

    assert status.state == "failed"
    assert status.error == str(application.error)


def test_a_file_that_cannot_be_written_stops_nothing(home: Home, caplog: pytest.LogCaptureFixture) -> None:
    home.write("in", "x")
    application = home.application(count())
    # A folder cannot be replaced by a file.
    (application.state_directory / "status.json" / "inside").mkdir(parents=True)

    with application:
        application.process_all_available()

    assert application.state == "stopped"
    assert [r.message for r in caplog.records if "status" in r.message] == [
        "the status of the application cannot be written"
    ]


def test_late_and_dropped_records_are_counted(home: Home) -> None:
    home.topics.create("in").append(
        [bm.Record(b"k", b"v", 500_000), bm.Record(b"k", b"v", 0), bm.Record(None, b"v", 500_000)]
    )
    app = bm.StreamsBuilder("late", key=bm.Text(), value=bm.Text())
    app.stream("in").group_by_key().windowed_by(bm.TimeWindows(timedelta(minutes=1))).count(store="w")

    application = home.run(app)

    status = application.status()
    assert (status.dropped, status.late) == (2, 1)
    assert status.inputs[0].time == 500_000
