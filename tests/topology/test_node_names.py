"""Names: one counter, Kafka's alphabet."""

from __future__ import annotations

import pytest

from brookmere.names import illegal
from brookmere.topology.node_names import Names


def test_generated_name_has_ten_digits_and_counts_up() -> None:
    names = Names()

    assert names.generate("KSTREAM-FILTER-") == "KSTREAM-FILTER-0000000000"
    assert names.generate("KSTREAM-MAP-") == "KSTREAM-MAP-0000000001"


def test_given_name_takes_a_number_all_the_same() -> None:
    names = Names()

    assert names.choose("mine", "KSTREAM-FILTER-") == "mine"
    assert names.choose(None, "KSTREAM-FILTER-") == "KSTREAM-FILTER-0000000001"


def test_given_store_name_takes_no_number() -> None:
    names = Names()

    assert names.store("mine", "KSTREAM-REDUCE-") == "mine"
    assert names.store(None, "KSTREAM-REDUCE-") == "KSTREAM-REDUCE-STATE-STORE-0000000000"


def test_suffix_goes_to_given_names_only() -> None:
    names = Names()

    assert names.choose("mine", "KSTREAM-SINK-", "-sink") == "mine-sink"
    assert names.choose(None, "KSTREAM-SINK-", "-sink") == "KSTREAM-SINK-0000000001"


def test_repartition_of_a_named_store_is_named_after_it() -> None:
    found = Names().repartition("counts")

    assert found.topic == "counts-repartition"
    assert found.filter == "counts-repartition-filter"
    assert found.sink == "counts-repartition-sink"
    assert found.source == "counts-repartition-source"


def test_repartition_of_a_generated_store_has_generated_names() -> None:
    found = Names(next=5).repartition("KSTREAM-AGGREGATE-STATE-STORE-0000000003")

    assert found.topic == "KSTREAM-AGGREGATE-STATE-STORE-0000000003-repartition"
    assert found.sink == "KSTREAM-SINK-0000000005"
    assert found.filter == "KSTREAM-FILTER-0000000006"
    assert found.source == "KSTREAM-SOURCE-0000000007"


def test_repartition_takes_three_numbers_also_when_it_shows_none() -> None:
    names = Names()

    names.repartition("counts")

    assert names.next == 3


def test_repartition_suffix_is_not_doubled() -> None:
    assert Names().repartition("counts-repartition").topic == "counts-repartition"


@pytest.mark.parametrize("name", ["a", "a.b_c-D9", "x" * 249, "..."])
def test_name_is_legal(name: str) -> None:
    assert illegal(name) is None


@pytest.mark.parametrize("name", ["", ".", "..", "x" * 250, "no spaces", "ä", "a/b", "a\n"])
def test_name_is_illegal(name: str) -> None:
    assert illegal(name) is not None
