from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from brookmere.worker.functions.stream_functions import UserFunction
from brookmere.worker.functions.table_functions import TableFilterWork, TableGroupWork, TableMapValuesWork
from tests.worker.alone import LONG, Alone


def function(call: Callable[..., Any]) -> UserFunction:
    return UserFunction(call, "mapper of map_values", "app.py:3")


def table(work: Any, **more: Any) -> Alone:
    return Alone(work, is_table=True, **more)


def upper(value: str) -> str:
    return value.upper()


def is_short(value: str) -> bool:
    return len(value) < 3


def test_a_mapped_table_tells_its_old_value_where_it_is_needed() -> None:
    assert table(TableMapValuesWork(function(upper))).change("k", "b", "a") == [("k", "B", None)]
    assert table(TableMapValuesWork(function(upper), send_old=True)).change("k", "b", "a") == [
        ("k", "B", "A")
    ]


def test_a_deletion_is_not_shown_to_map_values() -> None:
    node = table(TableMapValuesWork(function(upper), send_old=True))

    assert node.change("k", None, "a") == [("k", None, "A")]
    assert node.change("k", "a", None) == [("k", "A", None)]


def test_transform_values_sees_deletions() -> None:
    node = table(TableMapValuesWork(function(lambda key, value: f"{key}:{value}"), sees_null=True))

    assert node.change("k", None, "a") == [("k", "k:None", None)]


def test_a_row_that_no_longer_passes_is_deleted() -> None:
    node = table(TableFilterWork(function(is_short)))

    assert node.change("k", "long", "a") == [("k", None, None)]
    assert node.change("k", "a", "long") == [("k", "a", None)]


def test_what_was_not_there_before_and_is_not_there_now_is_no_change() -> None:
    node = table(TableFilterWork(function(is_short), send_old=True))

    assert node.change("k", "long", "longer") == []
    assert node.change("k", "long", "a") == [("k", None, "a")]
    assert node.change("k", None, None) == []


def test_deletions_of_a_versioned_table_are_passed_on() -> None:
    node = table(TableFilterWork(function(is_short), send_old=True, versioned=True))

    assert node.change("k", "long", "longer") == [("k", None, None)]


def test_filter_not_keeps_the_others() -> None:
    node = table(TableFilterWork(function(is_short), negate=True))

    assert node.change("k", "a", None) == [("k", None, None)]
    assert node.change("k", "long", None) == [("k", "long", None)]


def test_a_predicate_of_a_table_must_return_true_or_false() -> None:
    node = table(TableFilterWork(function(len)))

    assert node.change("k", "a", None) == []
    assert "must return True or False, found int 1" in str(node.errors[0][1])


def first_letter(key: str, value: str) -> tuple[str | None, str | None]:
    return (value[0], value) if value != "lost" else (None, value)


def test_a_change_that_stays_in_its_group_travels_as_one() -> None:
    node = table(TableGroupWork(function(first_letter)))

    assert node.change("k", "ab", "ac") == [("a", "ab", "ac")]


def test_the_old_group_is_told_first() -> None:
    node = table(TableGroupWork(function(first_letter)))

    assert node.change("k", "b", "a") == [("a", None, "a"), ("b", "b", None)]
    assert node.change("k", None, "a") == [("a", None, "a")]
    assert node.change("k", "b", None) == [("b", "b", None)]


def test_a_row_without_a_group_is_left_out() -> None:
    node = table(TableGroupWork(function(first_letter)))

    assert node.change("k", "lost", "a") == [("a", None, "a")]
    assert node.change("k", "lost", None) == []


def test_changes_of_the_past_are_left_out_of_groups_of_a_versioned_table() -> None:
    node = table(TableGroupWork(function(first_letter), versioned=True))

    assert node.change("k", "b", "a", is_latest=False) == []
    assert node.change("k", "b", "a") == [("a", None, "a"), ("b", "b", None)]


def test_a_row_without_key_cannot_be_grouped() -> None:
    node = table(TableGroupWork(function(first_letter)))

    assert node.change(None, "b", None) == []
    assert str(node.errors[0][1]) == "a table row without key cannot be grouped"


@pytest.mark.parametrize("send_old", [False, True])
def test_a_kept_table_tells_what_it_kept_before(send_old: bool) -> None:
    node = table(TableMapValuesWork(function(len), send_old=send_old, store="rows"), out_value=LONG)

    assert node.change("k", "a", None) == [("k", 1, None)]
    # The old value is the one that is kept, whatever the change says.
    assert node.change("k", "abc", "ab") == [("k", 3, 1 if send_old else None)]
    assert node.rows == {"k": 3}
    assert node.change("k", None, "abc") == [("k", None, 3 if send_old else None)]
    assert node.rows == {}


def test_a_kept_filter_is_silent_about_what_it_never_had() -> None:
    node = table(TableFilterWork(function(is_short), send_old=True, store="rows"))

    assert node.change("k", "long", None) == []
    assert node.change("k", "a", "long") == [("k", "a", None)]
    assert node.change("k", "long", "a") == [("k", None, "a")]


def test_a_kept_table_sends_the_last_row_of_a_batch() -> None:
    node = table(TableMapValuesWork(function(upper), send_old=True, store="rows"), last_per_batch=True)

    found = node.changes(("k", "a", None), ("l", "b", None), ("k", "c", "a"))

    assert found == [("l", "B", None), ("k", "C", None)]
    assert node.changes(("k", "d", "c"), ("l", None, "b")) == [("k", "D", "C"), ("l", None, "B")]
