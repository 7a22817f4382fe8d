"""The orders of Java's collections, as a Java 17 runtime shows them."""

from __future__ import annotations

import random

import pytest

from brookmere.topology.java_order import Tree, copied_order, grown_order, string_hash


@pytest.mark.parametrize(
    ("text", "code"),
    [("", 0), ("a", 97), ("hello", 99162322), ("polygenelubricants", 0x80000000), ("é€😀", 0xFF9D86)],
)
def test_string_hash_is_that_of_java(text: str, code: int) -> None:
    assert string_hash(text) == code


def test_names_come_in_the_order_of_their_buckets() -> None:
    assert grown_order(["topic-0", "m0b", "m0a"]) == copied_order(["topic-0", "m0b", "m0a"])
    assert copied_order(["c", "b", "a"]) == ["a", "b", "c"]


def test_names_of_one_bucket_come_in_the_order_of_addition() -> None:
    assert string_hash("Aa") == string_hash("BB")

    assert grown_order(["BB", "Aa"]) == ["BB", "Aa"]
    assert grown_order(["Aa", "BB"]) == ["Aa", "BB"]


def test_repeated_names_come_once() -> None:
    assert grown_order(["a", "a"]) == ["a"]


def test_set_of_twelve_is_larger_when_it_is_made_at_once() -> None:
    names = [chr(ord("a") + number) for number in range(11)] + ["p"]

    assert grown_order(names)[0] == "p"
    assert copied_order(names)[-1] == "p"


def test_tree_sorts() -> None:
    numbers = list(range(200))
    random.Random(1).shuffle(numbers)
    tree: Tree[int] = Tree(lambda one, other: one - other)

    for number in numbers:
        tree.add(number)
        tree.add(number)

    assert list(tree) == sorted(numbers)


def test_tree_files_a_new_item_by_the_ranks_of_the_moment() -> None:
    rank = {"a": 1, "b": 2, "c": 3}
    tree: Tree[str] = Tree(lambda one, other: rank[one] - rank[other])
    tree.add("a")
    tree.add("b")

    rank["a"] = 9
    tree.add("c")

    assert list(tree) == ["c", "a", "b"]
