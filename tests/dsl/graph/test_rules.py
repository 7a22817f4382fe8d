"""The rules that rewrite a program before it becomes a topology."""

from __future__ import annotations

import pytest

import brookmere as bm
from brookmere.topology.nodes import ProcessorNode, SinkNode, SourceNode, Topology
from brookmere.topology.operators import StreamSelfJoin
from brookmere.topology.windows import JoinWindows
from tests.dsl.nodes import repartitions
from tests.topology.programs import any_function, builder


def node(topology: Topology, name: str) -> ProcessorNode | SinkNode:
    (found,) = (node for node in topology.nodes if node.name == name)
    assert not isinstance(found, SourceNode)
    return found


def count(stream: bm.KStream, name: str) -> None:
    stream.group_by_key().count(store=name, name=f"{name}-count")


def test_topic_that_is_read_twice_has_one_source() -> None:
    app = builder()
    app.stream("in").to("one")
    app.stream("in").to("two")

    topology = app.build()

    assert [n.name for n in topology.nodes if isinstance(n, SourceNode)] == ["KSTREAM-SOURCE-0000000000"]
    assert node(topology, "KSTREAM-SINK-0000000003").parents == ("KSTREAM-SOURCE-0000000000",)


def test_topics_that_are_read_twice_may_be_listed_in_another_order() -> None:
    app = builder()
    app.stream(["a", "b"])
    app.stream(["b", "a"])

    assert len(app.build().nodes) == 1


def test_table_source_topic_is_marked_as_changelog_only_by_the_rule() -> None:
    app = builder()
    app.table("in", store="kept")

    plain, reused = app.build(), app.build(optimization="reuse.ktable.source.topics")

    assert [store.changelog for store in (*plain.stores, *reused.stores)] == [None, "in"]
    assert plain.nodes == reused.nodes


def test_repartitions_after_one_key_change_are_merged() -> None:
    app = builder()
    rekeyed = app.stream("in").select_key(any_function)
    count(rekeyed, "one")
    count(rekeyed.filter(any_function), "two")

    topology = app.build(optimization="all")

    assert repartitions(topology) == ["one-repartition"]
    assert node(topology, "one-count").parents == ("one-repartition-source",)
    assert node(topology, "two-count").parents == ("KSTREAM-FILTER-0000000006",)


def test_repartitions_that_share_an_operator_are_merged() -> None:
    app = builder()
    filtered = app.stream("in").select_key(any_function).filter(any_function, name="shared")
    count(filtered, "one")
    count(filtered, "two")

    topology = app.build(optimization="all")

    assert repartitions(topology) == ["one-repartition"]
    assert node(topology, "shared").parents == ("one-repartition-source",)
    assert node(topology, "two-count").parents == ("shared",)


def test_value_change_in_between_keeps_repartitions_apart() -> None:
    app = builder()
    rekeyed = app.stream("in").select_key(any_function)
    count(rekeyed, "one")
    count(rekeyed.map_values(any_function), "two")

    assert repartitions(app.build(optimization="all")) == ["one-repartition", "two-repartition"]


def test_explicit_repartition_is_kept() -> None:
    app = builder()
    rekeyed = app.stream("in").select_key(any_function)
    count(rekeyed.repartition("mine"), "one")
    count(rekeyed, "two")

    assert set(repartitions(app.build(optimization="all"))) == {"mine-repartition", "two-repartition"}


def test_repartitions_after_a_merge_become_one_after_it() -> None:
    app = builder()
    a, b = (app.stream(topic).select_key(any_function) for topic in "ab")
    merged = a.merge(b, name="m")
    count(merged, "one")
    count(merged, "two")

    topology = app.build(optimization="all")

    assert repartitions(topology) == ["one-repartition"]
    assert node(topology, "one-repartition-filter").parents == ("m",)


def test_last_of_consecutive_merges_is_repartitioned() -> None:
    app = builder()
    a, b, c = (app.stream(topic).select_key(any_function) for topic in "abc")
    merged = a.merge(b).merge(c, name="last")
    count(merged, "one")
    count(merged, "two")

    topology = app.build(optimization="all")

    assert repartitions(topology) == ["one-repartition"]
    assert node(topology, "one-repartition-filter").parents == ("last",)


def test_no_changed_key_slips_past_the_one_repartition() -> None:
    app = builder()
    rekeyed = app.stream("a").select_key(any_function)
    merged = rekeyed.merge(app.stream("b").select_key(any_function), name="m")
    count(rekeyed, "one")
    count(merged, "two")

    topology = app.build(optimization="all")

    assert set(repartitions(topology)) == {"one-repartition", "two-repartition"}
    assert node(topology, "two-repartition-filter").parents == ("m",)


def test_cogroup_stays_co_partitioned_after_a_replaced_repartition() -> None:
    app = builder()
    rekeyed = app.stream("a").select_key(any_function)
    count(rekeyed, "one")
    group, plain = rekeyed.group_by_key(name="g"), app.stream("b").group_by_key()
    group.cogroup(any_function).cogroup(plain, any_function).aggregate("")

    assert set(app.build().copartitioned[0]) == {"b", "g-repartition"}
    assert set(app.build(optimization="all").copartitioned[0]) == {"b", "one-repartition"}


WINDOWS = JoinWindows(before="5ms", after="8ms")


def self_joined(**options: object) -> bm.StreamsBuilder:
    app = builder()
    stream = app.stream("in")
    stream.join(stream, any_function, **{"windows": WINDOWS, "name": "twice", **options})  # type: ignore[arg-type]
    return app


def test_self_join_uses_one_store() -> None:
    topology = self_joined().build(optimization="single.store.self.join")

    merge = node(topology, "twice-merge")
    assert isinstance(merge, ProcessorNode)
    assert isinstance(merge.operator, StreamSelfJoin)
    assert merge.parents == ("twice-this-windowed",)
    assert merge.stores == (merge.operator.store,) == tuple(store.name for store in topology.stores)


def test_stream_that_is_read_twice_is_joined_with_itself() -> None:
    app = builder()
    app.stream("in").join(app.stream("in"), any_function, windows=WINDOWS)

    assert len(app.build(optimization="all").stores) == 1


def test_merged_repartitions_make_both_sides_the_same_stream() -> None:
    app = builder()
    rekeyed = app.stream("in").select_key(any_function)
    rekeyed.join(rekeyed, any_function, windows=WINDOWS, name="twice")

    assert len(app.build(optimization="single.store.self.join").stores) == 2
    assert len(app.build(optimization="all").stores) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"how": "left"},
        {"how": "outer"},
        {"windows": JoinWindows(before="-1ms", after="8ms")},
        {"windows": JoinWindows(before="8ms", after="-1ms")},
    ],
)
def test_self_join_whose_results_would_change_is_not_rewritten(options: dict[str, object]) -> None:
    app = self_joined(**options)

    assert app.build(optimization="all") == app.build()


def test_self_join_is_rewritten_as_kafka_streams_does_only_by_name() -> None:
    app = self_joined(how="left")

    topology = app.build(optimization=["all", "single.store.self.join.any"])

    assert len(topology.stores) == 1
    assert [rewrite.rule for rewrite in topology.rewrites] == ["single.store.self.join.any"]


def test_derived_stream_is_not_the_same_stream() -> None:
    app = builder()
    stream = app.stream("in")
    stream.join(stream.filter(any_function), any_function, windows=WINDOWS)

    assert app.build(optimization="all") == app.build()


def test_each_rule_reports_what_it_changed() -> None:
    app = self_joined()
    app.table("t", store="kept")
    app.table("unused")
    rekeyed = app.stream("other").select_key(any_function, name="new")
    count(rekeyed, "one")
    count(rekeyed, "two")

    rewrites = [(rewrite.rule, rewrite.what) for rewrite in app.build(optimization="all").rewrites]

    assert rewrites == [
        ("reuse.ktable.source.topics", "kept is restored from the topic t"),
        (
            "merge.repartition.topics",
            "one-repartition, two-repartition became one-repartition, directly after new",
        ),
        (
            "single.store.self.join",
            "twice-merge joins a stream with itself: twice-this-windowed stores the records of both sides",
        ),
    ]
    assert app.build().rewrites == ()
