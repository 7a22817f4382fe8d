"""The topics that a program reads must exist; those that it writes are created."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import brookmere as bm
from brookmere.config import read
from brookmere.run.launch.topics import TopicPlan, plan_topics


def builder() -> bm.StreamsBuilder:
    return bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text())


@pytest.fixture
def topics(tmp_path: Path) -> bm.Topics:
    return bm.Topics(tmp_path / "topics")


def planned(app: bm.StreamsBuilder, topics: bm.Topics, **settings: Any) -> TopicPlan:
    return plan_topics(app.build(), topics, read(**settings))


def test_sink_gets_the_most_partitions_of_the_inputs(topics: bm.Topics) -> None:
    topics.create("a", 2)
    topics.create("b", 3)
    topics.create("everywhere", 9)
    app = builder()
    app.global_table("everywhere")
    app.stream("a").merge(app.stream("b")).to("out")

    plan = planned(app, topics)

    assert plan.partitions == {"a": 2, "b": 3, "everywhere": 9}
    assert plan.new == {"out": 3}
    assert plan.new_partitions == 3
    assert plan.written == ("out",)
    assert plan.ids["a"] == topics["a"].id


def test_default_partitions_counts_for_all_new_topics(topics: bm.Topics) -> None:
    topics.create("a", 2)
    app = builder()
    app.stream("a").to("out")

    assert planned(app, topics, default__partitions=7).new == {"out": 7}


def test_topics_that_exist_are_left_alone(topics: bm.Topics) -> None:
    topics.create("a")
    topics.create("out", 5)
    app = builder()
    app.stream("a").to("out")

    assert planned(app, topics).new == {}


def test_dead_letter_topic_is_created_with_one_partition(topics: bm.Topics) -> None:
    topics.create("a", 4)
    app = builder()
    app.stream("a").to("out")

    plan = planned(app, topics, errors__dead__letter__queue__topic__name="dead")

    assert plan.new == {"out": 4, "dead": 1}
    assert plan.written == ("out", "dead")


def test_all_missing_topics_are_reported_with_the_command_that_creates_them(topics: bm.Topics) -> None:
    topics.create("orders", 3)
    app = builder()
    app.stream("orders").to("out")
    app.table("order")
    app.global_table("zones")
    app.stream(re.compile("log-.*")).to("logs")

    with pytest.raises(bm.errors.TopologyError) as caught:
        planned(app, topics)

    first, second, third = caught.value.faults
    assert str(first).startswith(
        "The topic 'order', which the program reads, does not exist (node KSTREAM-SOURCE-"
    )
    assert "test_topics.py" in str(first)
    where = f"--topics-dir {topics.directory}"
    assert first.remedy == (
        f"Did you mean 'orders'? If not, create it: `brookmere topics create order --partitions 3 {where}`"
    )
    assert second.remedy == f"Create it: `brookmere topics create zones --partitions 3 {where}`"
    assert third.what == "No topic matches the pattern 'log-.*'"


def test_missing_topics_can_be_created(topics: bm.Topics) -> None:
    topics.create("a", 2)
    app = builder()
    app.stream("a").merge(app.stream("b")).to("out")

    plan = planned(app, topics, auto__create__topics=True)

    assert plan.new == {"b": 2, "out": 2}
    assert plan.partitions == {"a": 2, "b": 2}


def test_topic_that_the_program_writes_itself_need_not_be_there(topics: bm.Topics) -> None:
    topics.create("a", 2)
    app = builder()
    app.stream("a").to("between")
    app.stream("between").to("out")

    assert planned(app, topics).new == {"between": 2, "out": 2}


def test_pattern_reads_what_matches(topics: bm.Topics) -> None:
    for name in ("log-a", "log-b", "other"):
        topics.create(name)
    app = builder()
    app.stream(re.compile("log-.*")).to("logs")

    assert planned(app, topics).partitions == {"log-a": 1, "log-b": 1}
