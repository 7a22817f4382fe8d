"""Checks that what is to know of stores reaches other processes."""

from __future__ import annotations

import pytest

import brookmere as bm
from brookmere.errors import StateError, UnsupportedError
from brookmere.state import StoreInfo
from brookmere.state.description.described import stores_from_json, stores_to_json

TOTALS = StoreInfo("totals", "key_value", "site-totals-changelog", bm.Text(), bm.Long())
WINDOWS = StoreInfo(
    "per-minute", "window", "site-per-minute-changelog", bm.Text(), bm.Long(), 60_000, 3_600_000
)
USERS = StoreInfo("users", "key_value", "users", bm.Int(), bm.Json("a int"), is_source=True, is_global=True)
OWN = StoreInfo("own", "key_value", "own", bm.Text(), bm.Custom(lambda v: v, lambda v: v, name="mine"))


def test_stores_come_back_equal() -> None:
    stores = [TOTALS, WINDOWS, USERS]

    assert stores_from_json(stores_to_json(stores)) == stores


def test_a_store_with_a_serde_of_the_program_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match=r"values of the store 'own' .* program.*'mine'"):
        stores_from_json(stores_to_json([TOTALS, OWN]))


def test_other_stores_are_read_beside_one_that_cannot_be() -> None:
    assert stores_from_json(stores_to_json([TOTALS, OWN]), only=["totals"]) == [TOTALS]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": 99, "stores": []}', '{"format": 1, "stores": [{}]}']
)
def test_what_is_no_description_is_refused(text: str) -> None:
    with pytest.raises(StateError, match="cannot be read"):
        stores_from_json(text)
