"""The changes of stores with a name are written; the topology that people see stays what it is."""

from __future__ import annotations

from datetime import timedelta

import pytest

import brookmere as bm
from brookmere.plan import plan
from brookmere.plan.changelogs import Changelog, changelogs, with_changelogs
from brookmere.topology.nodes import SinkNode


def of(app: bm.StreamsBuilder, *, default_clock: bool = True, **partitions: int) -> dict[str, Changelog]:
    planned = plan(app.build(), partitions or {"in": 4})
    return {log.store.name: log for log in changelogs(planned, default_clock=default_clock)}


def builder() -> bm.StreamsBuilder:
    return bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text())


def test_only_stores_with_a_name_have_a_changelog() -> None:
    app = builder()
    grouped = app.stream("in").group_by_key()
    grouped.count()
    grouped.count(store="named")
    app.stream("in").group_by_key().windowed_by(bm.TimeWindows("10ms", grace="0s")).count().suppress(
        bm.until_window_closes(), name="held"
    )

    assert [(log.topic, log.partitions) for log in of(app).values()] == [("app-named-changelog", 4)]


def test_changelog_has_as_many_partitions_as_its_store_has_tasks() -> None:
    app = builder()
    stream = app.stream(["in", "more"])
    stream.repartition(partitions=3).group_by_key().count(store="few")
    stream.group_by_key().count(store="many")

    logs = of(app, **{"in": 4, "more": 6})

    assert {name: log.partitions for name, log in logs.items()} == {"few": 3, "many": 6}


def test_table_of_a_topic_has_that_topic() -> None:
    app = builder()
    app.table("in", store="plain")
    app.table("aged", store="aged", ttl=timedelta(hours=1))
    app.table("timed", store="timed", timestamp=lambda value: value)
    app.table("versions", store="versions", history=timedelta(hours=1))
    app.stream("stream").to_table(store="of-stream")
    app.stream("stream").filter(lambda value: value != "").to_table(store="of-part")
    app.global_table("all", store="all")
    partitions = dict.fromkeys(["in", "aged", "timed", "versions", "stream", "all"], 2)

    logs = of(app, **partitions)
    late = of(app, default_clock=False, **partitions)

    assert {name: log.topic for name, log in logs.items() if log.is_source} == {
        "plain": "in",
        "versions": "versions",
        "of-stream": "stream",
        "all": "all",
    }
    assert {name for name, log in late.items() if log.is_source} == {"all"}
    assert {log.topic for log in logs.values() if not log.is_source} == {
        f"app-{name}-changelog" for name in ("aged", "timed", "of-part")
    }


def test_sinks_stand_behind_all_nodes_in_the_stage_of_their_store() -> None:
    app = builder()
    first = app.stream("in").group_by(lambda value: value).count(store="first")
    first.group_by(lambda key, value: (value, value)).count(store="second")
    topology = app.build()
    planned = plan(topology, {"in": 2})

    logged = with_changelogs(planned, changelogs(planned, disabled=["first"]))

    *nodes, sink = logged.topology.nodes
    assert tuple(nodes) == topology.nodes
    assert isinstance(sink, SinkNode)
    assert (sink.changelog_of, sink.topic) == ("second", "app-second-changelog")
    assert sink in logged.stages[2].nodes
    assert logged.stage_of()[sink.parents[0]] == 2


def test_sinks_of_stores_that_python_keeps_stay_there_when_all_is_planned_again() -> None:
    app = builder()
    app.stream("in").group_by_key().aggregate(0, bm.python(lambda _, n: n + 1, returns=int), store="counts")
    planned = plan(app.build(), {"in": 2})

    again = plan(with_changelogs(planned, changelogs(planned)).topology, {"in": 2})

    stages = again.stage_of()
    assert stages["changelog of counts"] == stages["KSTREAM-AGGREGATE-0000000001"]


@pytest.mark.parametrize("kind", ["join", "foreign", "cogroup"])
def test_tables_of_several_inputs_have_changelogs(kind: str) -> None:
    app = builder()
    if kind == "cogroup":
        both = app.stream("in").group_by_key().cogroup(lambda value, agg: value)
        both.cogroup(app.stream("other").group_by_key(), lambda value, agg: value)
        both.aggregate("", store="both")
    else:
        by = (lambda value: value) if kind == "foreign" else None
        app.table("in").join(app.table("other"), lambda a, b: a, foreign_key=by, store="both")

    log = of(app, **{"in": 2, "other": 2})["both"]

    assert len(log.owners) == (2 if kind == "cogroup" else 1)
    assert log.partitions == 2
    assert log.store.key == bm.Text()
