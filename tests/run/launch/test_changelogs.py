"""Changelog topics have the settings of Kafka Streams; other topics are refused as changelogs."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest

import brookmere as bm
from brookmere.config import read
from brookmere.plan import Plan, plan
from brookmere.run.evolution.identity import Identity
from brookmere.run.launch.changelogs import log_ids, log_starts, with_changelog_topics
from brookmere.run.launch.topics import TopicPlan, plan_topics
from tests.run.homes import Home

DAY = 86_400_000


def program() -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text())
    grouped = app.stream("in").group_by_key()
    grouped.count(store="plain")
    grouped.windowed_by(bm.TimeWindows("10ms", grace="5ms")).count(store="windows")
    grouped.windowed_by(bm.SessionWindows("10ms", grace="5ms")).count(
        store="sessions", retention=timedelta(days=2)
    )
    grouped.windowed_by(bm.UnlimitedWindows()).count(store="endless")
    versions = app.stream("in").map_values(lambda value: value)
    versions.to_table(store="versions", history=timedelta(hours=1))
    return app


def planned(home: Home, app: bm.StreamsBuilder, **settings: Any) -> tuple[Plan, TopicPlan]:
    config = read(None, **settings)
    topology = app.build()
    needed = plan_topics(topology, home.topics, config)
    return with_changelog_topics(plan(topology, needed.partitions), needed, home.topics, config)


def test_topics_are_compacted_and_those_of_windows_also_deleted(home: Home) -> None:
    home.topics.create("in", 3)

    _, needed = planned(home, program(), windowstore__changelog__additional__retention__ms=1000)

    assert needed.new == dict.fromkeys(needed.settings, 3)
    shown = {
        name.removeprefix("app-").removesuffix("-changelog"): (
            settings["cleanup.policy"], settings.get("retention.ms"), settings.get("min.compaction.lag.ms")
        )
        for name, settings in needed.settings.items()
    }  # fmt: skip
    assert shown == {
        "plain": ("compact", None, None),
        "windows": ("compact,delete", str(15 + 1000), None),
        "sessions": ("compact,delete", str(2 * DAY + 1000), None),
        "endless": ("compact,delete", "-1", None),
        "versions": ("compact", None, str(3_600_000 + DAY)),
    }
    assert set(needed.settings) <= set(needed.written)


def test_settings_of_topics_are_those_of_the_application_on_kafka(home: Home) -> None:
    home.topics.create("in")
    kafka = {"bootstrap__servers": "nowhere:1", "topic__min__insync__replicas": 2}

    _, needed = planned(home, program(), **kafka)

    assert needed.settings["app-plain-changelog"]["min.insync.replicas"] == "2"
    assert "retention.clock" not in needed.settings["app-windows-changelog"]


def test_topic_of_another_form_is_refused(home: Home) -> None:
    home.topics.create("in", 2)
    home.topics.create("app-plain-changelog", 1)
    home.topics.create("app-windows-changelog", 2, {"cleanup.policy": "delete,compact"})

    _, needed = planned(home, program())
    with pytest.raises(bm.errors.TopologyError) as caught:
        needed.check()

    remedy = (
        "Delete it if nobody needs it, or run the application under another application.id, "
        "or name the store in changelog.disabled"
    )
    what = "The topic 'app-plain-changelog' cannot be the changelog of the store 'plain'"
    assert caught.value.faults == [
        bm.errors.Fault(f"{what}: the store has 2 tasks, found 1 partition", None, remedy),
        bm.errors.Fault(f"{what}: its cleanup.policy must be compact, found delete", None, remedy),
    ]


def test_changelogs_can_be_left_out(home: Home) -> None:
    home.topics.create("in")

    _, some = planned(home, program(), changelog__disabled="plain, windows")
    _, none = planned(home, program(), changelog__disabled="all")
    with pytest.raises(
        bm.errors.ConfigError, match=r"names 'plane', which is not a store\. Did you mean 'plain'\?"
    ):
        planned(home, program(), changelog__disabled="plane")

    assert sorted(some.new) == ["app-endless-changelog", "app-sessions-changelog", "app-versions-changelog"]
    assert none.new == {}


def test_pattern_does_not_match_changelogs_of_the_application(home: Home) -> None:
    for name in ("app-in", "app-counts-changelog", "app-other-changelog"):
        home.topics.create(name, config={"cleanup.policy": "compact"})
    app = bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text())
    app.stream(re.compile("app-.*")).group_by_key().count(store="counts")

    found, _ = planned(home, app)

    assert set(found.topics) == {"app-in", "app-other-changelog"}


def test_changelog_starts_over_when_its_topic_was_recreated(home: Home) -> None:
    home.topics.create("in")
    app = bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text())
    app.stream("in").group_by_key().count(store="counts")

    def start(before: Identity | None) -> tuple[bool, Identity]:
        found, needed = planned(home, app)
        starts = log_starts(found, needed, home.topics, before)
        for name, partitions in needed.new.items():
            home.topics.create(name, partitions, needed.settings[name])
        now = Identity("app", {}, {}, 1, {}, changelogs=log_ids(found, starts, home.topics))
        return starts["counts"].is_new, now

    first, identity = start(None)
    again, same = start(identity)
    home.topics.delete("app-counts-changelog")
    anew, other = start(same)

    assert (first, again, anew) == (False, False, True)
    assert same == identity
    assert other != identity


def test_changelog_of_an_earlier_state_is_refused(home: Home) -> None:
    home.topics.create("in", 2)
    rest = home.topics.create("app-plain-changelog", 2, {"cleanup.policy": "compact"})
    found, needed = planned(home, program())

    log_starts(found, needed, home.topics, None)
    rest.append([bm.Record(b"k", b"v", 0)])

    with pytest.raises(bm.errors.StateError, match="rows of an earlier state in app-plain-changelog"):
        log_starts(found, needed, home.topics, None)
