"""Branches and their names."""

from __future__ import annotations

import brookmere as bm
from brookmere.topology.nodes import ProcessorNode
from brookmere.topology.operators import Branch
from tests.topology.programs import any_function, builder


def branch(app: bm.StreamsBuilder) -> Branch:
    (found,) = (
        node.operator
        for node in app.build().nodes
        if isinstance(node, ProcessorNode) and isinstance(node.operator, Branch)
    )
    return found


def test_named_branches_have_the_prefix_of_the_split() -> None:
    app = builder()

    split = app.stream("in").split(name="by-").branch(any_function, name="size")
    branches = split.default_branch(name="rest")

    assert list(branches) == ["by-size", "by-rest"]


def test_unnamed_branches_are_numbered_from_one_and_the_default_is_zero() -> None:
    app = builder()

    branches = app.stream("in").split().branch(any_function).branch(any_function).default_branch()

    prefix = "KSTREAM-BRANCH-0000000001"
    assert list(branches) == [f"{prefix}1", f"{prefix}2", f"{prefix}0"]


def test_default_is_the_last_child() -> None:
    app = builder()

    app.stream("in").split(name="b").branch(any_function).default_branch()

    operator = branch(app)
    assert operator.children == ("b1", "b0")
    assert operator.default == "b0"
    assert len(operator.predicates) == 1


def test_without_default_the_rest_has_no_child() -> None:
    app = builder()

    branches = app.stream("in").split(name="b").branch(any_function).no_default_branch()

    assert list(branches) == ["b1"]
    assert branch(app).default is None


def test_each_branch_uses_a_number() -> None:
    app = builder()

    branches = app.stream("in").split(name="b").branch(any_function).default_branch()
    branches["b1"].filter(any_function)

    assert any(node.name == "KSTREAM-FILTER-0000000004" for node in app.build().nodes)
