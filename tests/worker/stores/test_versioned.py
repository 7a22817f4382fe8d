"""Versioned stores: what held when, and what the history leaves of it."""

from __future__ import annotations

from typing import Any

import pytest

from brookmere.worker.protocol.stage_code import StoreCode
from brookmere.worker.stores.versioned import NOT_PUT, VersionedRecord
from tests.worker.jvm import LONG, STRING
from tests.worker.stores.asking import Asking


@pytest.fixture
def store() -> Asking:
    return Asking(StoreCode("versions", "versioned", STRING, LONG, retention_ms=100))


def filled(s: Any) -> list[int]:
    return [s.put("a", 1, 10), s.put("a", 3, 30), s.put("a", 2, 20), s.put("a", None, 40), s.put("a", 5, 50)]


def test_put_tells_until_when_a_version_holds(store: Asking) -> None:
    assert store.does_one(filled) == [-1, -1, 30, -1, -1]


def test_get_finds_the_latest_version_or_the_one_of_a_time(store: Asking) -> None:
    results = store.does(
        filled,
        lambda s: s.get("a"),
        lambda s: s.get("b"),
        lambda s: [s.get("a", time) for time in (9, 10, 19, 20, 39, 40, 49, 50, 99)],
    )

    first, second, third = VersionedRecord(1, 10, 20), VersionedRecord(2, 20, 30), VersionedRecord(3, 30, 40)
    latest = VersionedRecord(5, 50)
    assert results[1] == latest
    assert results[2] is None
    assert results[3] == [None, first, first, second, third, None, None, latest, latest]


def test_a_deletion_is_a_version_too(store: Asking) -> None:
    results = store.does(
        filled,
        lambda s: s.delete("a", 60),
        lambda s: s.get("a"),
        lambda s: s.get("a", 55),
        lambda s: s.delete("a", 25),
        lambda s: [s.get("a", time) for time in (24, 25, 29, 30)],
        lambda s: s.delete("b", 70),
    )

    assert results[1] == VersionedRecord(5, 50)
    assert results[2] is None
    assert results[3] == VersionedRecord(5, 50, 60)
    assert results[4] == VersionedRecord(2, 20, 30)
    assert results[5] == [VersionedRecord(2, 20, 25), None, None, VersionedRecord(3, 30, 40)]
    assert results[6] is None


def test_a_version_of_the_same_time_is_replaced(store: Asking) -> None:
    assert store.does(filled, lambda s: s.put("a", 9, 20), lambda s: s.get("a", 20))[1:] == [
        30,
        VersionedRecord(9, 20, 30),
    ]


def test_what_is_older_than_the_history_is_neither_put_nor_found(store: Asking) -> None:
    results = store.does(
        filled,
        lambda s: s.put("b", 1, 130),
        lambda s: (s.get("a", 30), s.get("a", 29), s.put("a", 9, 29), s.delete("a", 29)),
        lambda s: s.put("b", 1, 160),
        lambda s: (s.get("a", 59), s.get("a", 60), s.get("a")),
    )

    assert results[2] == (VersionedRecord(3, 30, 40), None, NOT_PUT, None)
    assert results[4] == (VersionedRecord(5, 50), VersionedRecord(5, 50), VersionedRecord(5, 50))


def test_versions_come_back_from_the_jvm(store: Asking) -> None:
    store.does_one(filled)

    store.jvm.restart()

    assert store.does_one(lambda s: [s.get("a", time) for time in (25, 45, 60)]) == [
        VersionedRecord(2, 20, 30),
        None,
        VersionedRecord(5, 50),
    ]


def test_versions_that_ended_long_ago_do_not_stay_in_memory(store: Asking) -> None:
    for time in range(0, 1000, 10):
        store.does_one(lambda s, time=time: s.put("a", time, time))

    group = store.does_one(lambda s: s.group("a"))

    assert [item.time for item in group.items] == list(range(890, 1000, 10))
    assert store.does_one(lambda s: s.get("a", 890)) == VersionedRecord(890, 890, 900)


@pytest.mark.parametrize(
    "use", [lambda s: s.get(None), lambda s: s.put(None, 1, 0), lambda s: s.put("a", 1, -1)]
)
def test_what_cannot_be_is_refused(store: Asking, use: Any) -> None:
    with pytest.raises(ValueError, match=r"None|1970"):
        store.does_one(use)


def test_what_is_no_time_is_refused(store: Asking) -> None:
    with pytest.raises(TypeError, match="as_of counts milliseconds since 1970: found '5'; give an int"):
        store.does_one(lambda s: s.get("a", "5"))


def test_a_deletion_at_the_time_of_the_latest_version_is_not_forgotten(store: Asking) -> None:
    results = store.does(
        lambda s: s.put("a", 1, 20),
        lambda s: s.delete("a", 20),
        lambda s: s.put("a", 2, 10),
        lambda s: s.get("a"),
    )

    assert results[2:] == [20, None]
