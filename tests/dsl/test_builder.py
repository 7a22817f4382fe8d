"""StreamsBuilder: sources, and the guarantees of build()."""

from __future__ import annotations

import re
from typing import Any

import pytest

import brookmere as bm
from brookmere.topology.nodes import SourceNode
from tests.topology.programs import any_function, builder, word_count


def sources(app: bm.StreamsBuilder) -> list[SourceNode]:
    return [node for node in app.build().nodes if isinstance(node, SourceNode)]


def test_same_program_is_the_same_topology() -> None:
    assert word_count().build() == word_count().build()


def test_builder_can_be_extended_after_build() -> None:
    app = word_count()
    before = app.build(optimization="all")

    app.stream("more").to("other")

    assert app.build(optimization="all") != before
    assert word_count().build(optimization="all") == before


def test_source_uses_the_default_serdes_unless_given_others() -> None:
    app = builder()
    app.stream("a")
    app.table("b", value=bm.Long())

    assert [(node.key, node.value) for node in sources(app)] == [
        (bm.Text(), bm.Text()),
        (bm.Text(), bm.Long()),
    ]


def test_timestamp_is_kept_with_the_source() -> None:
    app = builder()
    app.stream("a", timestamp=lambda value: value)
    app.table("b", timestamp=lambda value: value)

    assert all(node.timestamp is not None for node in sources(app))


def test_named_table_names_its_source_too() -> None:
    app = builder()
    app.table("in", name="rows")

    assert [node.name for node in app.build().nodes] == ["rows-source", "rows"]


def test_flags_of_a_pattern_are_written_into_it() -> None:
    app = builder()
    app.stream(re.compile("in-.*", re.IGNORECASE))

    assert [node.pattern for node in sources(app)] == ["(?i)in-.*"]


@pytest.mark.parametrize("topics", [[], 3, None, [1]])
def test_stream_without_topics_is_refused(topics: Any) -> None:
    with pytest.raises(bm.errors.TopologyError, match="must name its topics"):
        builder().stream(topics)


def test_table_of_several_topics_is_refused() -> None:
    with pytest.raises(bm.errors.TopologyError, match="must name one topic"):
        builder().table(["a", "b"])  # type: ignore[arg-type]


def test_source_can_have_its_own_handler() -> None:
    app = builder()
    app.stream("a", on_bad_record="continue")
    app.table("b", on_bad_record="fail")
    app.global_table("c", on_bad_record="continue")
    app.stream("d")

    assert [node.on_bad_record for node in sources(app)] == ["continue", "fail", "continue", None]


def test_unknown_handler_is_refused_with_a_hint() -> None:
    with pytest.raises(bm.errors.TopologyError, match=r"found 'continu' .* Did you mean 'continue'?"):
        builder().stream("in", on_bad_record="continu")  # type: ignore[arg-type]


def test_topic_read_twice_has_one_handler() -> None:
    app = builder()
    app.stream("a", on_bad_record="continue").to("b")
    app.stream("a").to("c")
    assert len(sources(app)) == 1

    app.stream("a", on_bad_record="fail").to("d")
    with pytest.raises(bm.errors.TopologyError, match="a is read with a different on_bad_record than at"):
        app.build()


def test_unknown_optimization_is_refused_with_a_hint() -> None:
    app = builder()
    app.stream("in")

    with pytest.raises(bm.errors.TopologyError, match=r"did you mean merge\.repartition\.topics"):
        app.build(optimization="merge.repartition.topic")


@pytest.mark.parametrize(
    "optimization",
    ["all", "merge.repartition.topics", ["merge.repartition.topics"], "single.store.self.join, all"],
)
def test_optimization_can_be_given_as_text_or_list(optimization: Any) -> None:
    app = builder()
    rekeyed = app.stream("in").select_key(any_function)
    rekeyed.group_by_key().count(store="one")
    rekeyed.group_by_key().count(store="two")

    assert len(app.build().repartitions) == 2
    assert len(app.build(optimization=optimization).repartitions) == 1
