"""A start refuses what cannot work before anything runs."""

from __future__ import annotations

import shutil

import pytest

import brookmere as bm
from tests.run.homes import Home, count, shout

pytestmark = pytest.mark.usefixtures("spark")


def test_missing_topic_is_refused_before_anything_is_created_and_can_be_added(home: Home) -> None:
    application = home.application(shout())

    with pytest.raises(bm.errors.TopologyError, match="brookmere topics create in --partitions 1"):
        application.start()
    assert application.state == "created"
    assert not (home.directory / "state").exists()

    home.write("in", "a")
    with application:
        application.process_all_available()
    assert home.read("out") == ["a!"]


def test_wrong_lambda_is_refused_before_topics_are_created(home: Home) -> None:
    home.topics.create("in")
    app = bm.StreamsBuilder("wrong", key=bm.Text(), value=bm.Json("n int"))
    app.stream("in").filter(lambda value: value.m > 1).to("out")
    application = home.application(app)

    for _ in range(2):
        with pytest.raises(bm.errors.ExpressionError, match="'m', which does not exist"):
            application.start()

    assert application.state == "created"
    assert home.topics.names() == ["in"]


def test_topics_that_must_be_alike_are_compared(home: Home) -> None:
    home.topics.create("a", 2)
    home.topics.create("b", 3)
    app = bm.StreamsBuilder("groups", key=bm.Text(), value=bm.Text())
    a, b = (app.stream(topic).group_by_key() for topic in "ab")
    a.cogroup(lambda value, agg: agg).cogroup(b, lambda value, agg: agg).aggregate("")

    with pytest.raises(bm.errors.TopologyError, match="unequal numbers of partitions: a has 2, b has 3"):
        home.application(app).start()


def test_second_instance_is_refused_until_the_first_has_stopped(home: Home) -> None:
    home.topics.create("in")
    second = home.application(shout())
    with home.application(shout()):
        with pytest.raises(bm.errors.InstanceError, match="'shout' is already running on the state"):
            second.start()
        assert second.state == "created"

    with second:
        assert second.state == "running"


def test_application_without_positions_can_be_refused(home: Home) -> None:
    home.write("in", "a")
    with pytest.raises(
        bm.errors.StateError, match=r"auto.offset.reset is none. Set it to earliest or latest"
    ):
        home.application(shout(), auto__offset__reset="none").start()

    home.run(shout())
    home.write("in", "b")
    home.run(shout(), auto__offset__reset="none")

    assert home.read("out") == ["a!", "b!"]


def test_recreated_topic_is_refused(home: Home) -> None:
    home.write("in", "a")
    home.run(shout())
    home.topics.delete("in")
    home.write("in", "b")

    with pytest.raises(bm.errors.StateError, match="the topic 'in' was deleted and recreated"):
        home.application(shout()).start()


def test_missing_state_is_reported(home: Home) -> None:
    home.write("in", "a")
    state = home.run(count()).state_directory / "checkpoint" / "state"
    shutil.rmtree(state)
    home.write("in", "b")

    with pytest.raises(bm.errors.StateError, match="The state of the application is missing"):
        home.run(count())


def test_damaged_checkpoint_is_reported(home: Home) -> None:
    home.write("in", "a")
    (home.run(shout()).state_directory / "checkpoint" / "offsets" / "0").write_text("nonsense")

    with pytest.raises(bm.errors.StateError, match=r"offsets/0 is not an entry of its log"):
        home.application(shout()).start()
