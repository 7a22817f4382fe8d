"""How many partitions a repartition has."""

from __future__ import annotations

import re

import pytest

import brookmere as bm
from brookmere.topology.partitions import partition_counts
from tests.topology.programs import any_function, builder


def test_repartition_has_as_many_partitions_as_its_largest_input() -> None:
    app = builder()
    app.stream("a").merge(app.stream("b")).repartition("r")

    assert partition_counts(app.build(), {"a": 2, "b": 5, "unused": 9}) == {"r-repartition": 5}


def test_number_that_was_asked_for_wins() -> None:
    app = builder()
    app.stream("a").repartition("r", partitions=7)

    assert partition_counts(app.build(), {"a": 2}) == {"r-repartition": 7}


def test_number_is_handed_down_from_repartition_to_repartition() -> None:
    app = builder()
    first = app.stream("a").repartition("first", partitions=7)
    first.select_key(any_function).group_by_key().count(store="second")

    assert partition_counts(app.build(), {"a": 2})["second-repartition"] == 7


def test_repartition_in_a_cogroup_gets_the_number_of_the_topic_beside_it() -> None:
    app = builder()
    plain, rekeyed = app.stream("a").group_by_key(), app.stream("b").group_by(any_function, name="g")
    plain.cogroup(any_function).cogroup(rekeyed, any_function).aggregate("")
    topology = app.build()

    assert topology.copartitioned == (("a", "g-repartition"),)
    assert partition_counts(topology, {"a": 4, "b": 2}) == {"g-repartition": 4}


def test_repartitions_of_a_cogroup_get_the_same_number() -> None:
    app = builder()
    one, two = (
        app.stream("a").group_by(any_function, name="g"),
        app.stream("b").group_by(any_function, name="h"),
    )
    one.cogroup(any_function).cogroup(two, any_function).aggregate("")

    assert partition_counts(app.build(), {"a": 4, "b": 2}) == {"g-repartition": 4, "h-repartition": 4}


def test_circle_of_sub_topologies_starts_with_what_is_known() -> None:
    app = builder()
    source = app.stream("a")
    source.merge(source.repartition("out").repartition("back"))

    assert partition_counts(app.build(), {"a": 3}) == {"out-repartition": 3, "back-repartition": 3}


def test_pattern_counts_the_topics_that_match() -> None:
    app = builder()
    app.stream(re.compile("in-.")).repartition("r")

    assert partition_counts(app.build(), {"in-a": 2, "in-b": 3, "in-long": 9}) == {"r-repartition": 3}


def test_pattern_without_topics_is_refused() -> None:
    app = builder()
    app.stream(re.compile("in-.")).repartition("r")

    with pytest.raises(bm.errors.TopologyError, match="No topic matches"):
        partition_counts(app.build(), {})


def test_unknown_topics_are_refused_together() -> None:
    app = builder()
    app.stream("a")
    app.stream("b")

    with pytest.raises(bm.errors.TopologyError) as caught:
        partition_counts(app.build(), {})

    assert len(caught.value.faults) == 2


def test_global_table_has_no_say() -> None:
    app = builder()
    app.global_table("countries")
    app.stream("a").repartition("r")

    assert partition_counts(app.build(), {"a": 2}) == {"r-repartition": 2}
