"""Faults: all at once, each with what, where and what to do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import brookmere as bm
from brookmere.topology.validation import check_partitions
from tests.topology.programs import any_function, builder

HERE = Path(__file__).name


def faults(app: bm.StreamsBuilder) -> list[bm.errors.Fault]:
    with pytest.raises(bm.errors.TopologyError) as caught:
        app.build()
    return caught.value.faults


def only_fault(app: bm.StreamsBuilder) -> bm.errors.Fault:
    found = faults(app)
    assert len(found) == 1, found
    return found[0]


def test_empty_program_is_refused() -> None:
    assert "empty" in only_fault(builder()).what


def test_all_faults_are_told_together() -> None:
    app = bm.StreamsBuilder("app")
    stream = app.stream("in", key=bm.Text())
    stream.filter(any_function, name="no spaces")
    stream.filter(any_function, name="same")
    stream.map_values(any_function, name="same")
    app.table("in", key=bm.Text(), value=bm.Text())

    whats = [fault.what for fault in faults(app)]

    assert len(whats) == 4
    assert any("'no spaces'" in what for what in whats)
    assert any("'same'" in what for what in whats)
    assert any("already been registered" in what for what in whats)
    assert any("no serde" in what for what in whats)


def test_fault_tells_the_line_of_the_user() -> None:
    app = builder()
    app.stream("in").filter(any_function, name="no spaces")

    assert re.search(rf"{HERE}:\d+", only_fault(app).where or "")


@pytest.mark.parametrize("name", ["", ".", "no spaces", "x" * 250])
def test_illegal_names_are_refused_wherever_they_are_given(name: str) -> None:
    app = builder()
    stream = app.stream("in", name=name)
    stream.to(name)
    stream.group_by_key(name=name)
    app.table("other", store=name)

    kinds = [fault.what.split(" name ")[0] for fault in faults(app) if "illegal" in fault.what]

    assert kinds == ["The operator", "The topic", "The group", "The store"]


def test_application_id_must_be_a_legal_name() -> None:
    app = builder("my app")
    app.stream("in")

    assert "application name 'my app'" in only_fault(app).what


def test_name_used_twice_tells_both_places() -> None:
    app = builder()
    stream = app.stream("in")
    stream.filter(any_function, name="same")
    stream.filter(any_function, name="same")

    fault = only_fault(app)

    assert HERE in fault.what
    assert HERE in (fault.where or "")


def test_store_used_twice_is_refused() -> None:
    app = builder()
    grouped = app.stream("in").group_by_key()
    grouped.count(store="same")
    grouped.reduce(any_function, store="same")

    fault = only_fault(app)

    assert "Store 'same'" in fault.what
    assert "KSTREAM-REDUCE-0000000002" in (fault.where or "")


def test_global_and_local_store_may_not_share_a_name() -> None:
    app = builder()
    app.global_table("countries", store="same")
    app.table("cities", store="same")

    assert "Store 'same'" in only_fault(app).what


def test_topic_as_stream_and_as_table_is_refused() -> None:
    app = builder()
    app.stream("in")
    app.table("in")

    assert "'in' has already been registered" in only_fault(app).what


def test_overlapping_topic_sets_are_refused() -> None:
    app = builder()
    app.stream(["a", "b"])
    app.stream(["b", "c"])

    assert "overlap" in only_fault(app).what


def test_pattern_over_a_named_topic_is_refused() -> None:
    app = builder()
    app.stream("orders-eu")
    app.stream(re.compile("orders-.*"))

    assert "'orders-eu'" in only_fault(app).what


def test_pattern_must_match_the_whole_topic_to_collide() -> None:
    app = builder()
    app.stream("orders-eu")
    app.stream(re.compile("orders"))

    app.build()


def test_repartitions_of_one_name_are_one_fault() -> None:
    app = builder()
    one, two = app.stream("a").group_by(any_function), app.stream("b").group_by(any_function)
    one.cogroup(any_function).cogroup(two, any_function).aggregate("", store="both")

    assert "Two repartitions are called 'both-repartition'" in only_fault(app).what


def test_missing_serdes_are_named() -> None:
    app = bm.StreamsBuilder("app", value=bm.Text())
    app.stream("in")

    fault = only_fault(app)

    assert fault.what == "Topic 'in' has no serde for its key"
    assert "key=" in fault.remedy


def test_stream_of_another_builder_is_refused() -> None:
    app, other = builder(), builder()
    app.stream("in").merge(other.stream("in"))

    assert "another StreamsBuilder" in only_fault(app).what


def test_group_of_another_builder_is_refused() -> None:
    app, other = builder(), builder()
    foreign = other.stream("in").group_by_key()
    app.stream("in").group_by_key().cogroup(any_function).cogroup(foreign, any_function).aggregate("")

    assert "another StreamsBuilder" in only_fault(app).what


def test_topic_read_twice_with_different_serdes_is_refused() -> None:
    app = builder()
    app.stream("in")
    app.stream("in", value=bm.Long())

    assert "a different value serde" in only_fault(app).what


def test_split_cannot_go_on_after_its_default() -> None:
    app = builder()
    split = app.stream("in").split()
    split.default_branch()
    split.branch(any_function)

    assert "split was continued" in only_fault(app).what


def test_unknown_store_type_is_refused() -> None:
    app = builder()
    app.table("in", store="kept", store_type="disk")  # type: ignore[arg-type]

    assert "'disk'" in only_fault(app).what


def test_cogrouped_topics_must_have_equal_partitions() -> None:
    app = builder()
    one, two = app.stream("a").group_by_key(), app.stream("b").group_by_key()
    one.cogroup(any_function).cogroup(two, any_function).aggregate("")
    topology = app.build()

    assert topology.copartitioned == (("a", "b"),)
    assert check_partitions(topology, {"a": 2, "b": 2}) == []
    (fault,) = check_partitions(topology, {"a": 2, "b": 3})
    assert "a has 2, b has 3" in fault.what


def test_unknown_topic_is_a_fault_of_the_partition_check() -> None:
    app = builder()
    app.stream("orders")

    (fault,) = check_partitions(app.build(), {"order": 1})

    assert "'orders' does not exist" in fault.what
    assert "did you mean 'order'" in fault.remedy


def test_fixed_numbers_of_partitions_must_agree_already_at_build() -> None:
    app = builder()
    one = app.stream("a").repartition("one", partitions=2).group_by_key()
    two = app.stream("b").repartition("two", partitions=3).group_by_key()
    one.cogroup(any_function).cogroup(two, any_function).aggregate("")

    assert "one-repartition has 2, two-repartition has 3" in only_fault(app).what
