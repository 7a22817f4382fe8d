"""Sub-topologies are cut at repartitions and joined by shared stores."""

from __future__ import annotations

from tests.topology.programs import any_function, builder, word_count


def test_repartition_cuts_a_topology() -> None:
    topology = word_count().build()

    first, second = topology.subtopologies

    assert first.nodes[-1] == "counts-repartition-sink"
    assert second.nodes[0] == "counts-repartition-source"


def test_sub_topologies_are_numbered_by_their_first_node() -> None:
    app = builder()
    app.stream("a")
    app.global_table("g")
    app.stream("b")

    assert [(part.number, part.is_global) for part in app.build().subtopologies] == [
        (0, False),
        (1, True),
        (2, False),
    ]


def test_shared_store_joins_two_sources() -> None:
    app = builder()
    one, two = app.stream("a").group_by_key(), app.stream("b").group_by_key()
    one.cogroup(any_function).cogroup(two, any_function).aggregate("")

    assert len(app.build().subtopologies) == 1


def test_nodes_stand_behind_their_parents() -> None:
    app = builder()
    late = app.stream("a")
    other = app.stream("b").select_key(any_function)
    late.merge(other).group_by_key().count().to_stream().to("out")

    seen: set[str] = set()
    for node in app.build().nodes:
        assert seen.issuperset(getattr(node, "parents", ()))
        seen.add(node.name)
