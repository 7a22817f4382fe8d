"""Window stores: Kafka Streams' methods, and what the retention leaves of them."""

from __future__ import annotations

from typing import Any

import pytest

from brookmere.record import WindowedKey
from brookmere.worker.protocol.stage_code import StoreCode
from tests.worker.jvm import LONG, STRING
from tests.worker.stores.asking import Asking


@pytest.fixture
def store() -> Asking:
    return Asking(StoreCode("windows", "window", STRING, LONG, retention_ms=100, window_ms=10))


def filled(s: Any) -> None:
    for key, start, value in [("a", 0, 1), ("b", 10, 2), ("a", 20, 3), ("a", 10, 4)]:
        s.put(key, value, start)


def test_a_window_is_found_by_its_start(store: Asking) -> None:
    results = store.does(
        filled, lambda s: s.fetch("a", 10), lambda s: s.fetch("a", 11), lambda s: s.fetch("c", 10)
    )

    assert results[1:] == [4, None, None]


def test_the_windows_of_a_key_come_by_time(store: Asking) -> None:
    results = store.does(
        filled,
        lambda s: [*s.fetch("a", 0, 20)],
        lambda s: [*s.fetch("a", 1, 19)],
        lambda s: [*s.backward_fetch("a", 0, 10)],
        lambda s: [*s.fetch("a", 20, 10)],
    )

    assert results[1:] == [[(0, 1), (10, 4), (20, 3)], [(10, 4)], [(10, 4), (0, 1)], []]


def test_windows_of_many_keys_have_their_bounds(store: Asking) -> None:
    results = store.does(
        filled,
        lambda s: [*s.all()],
        lambda s: [*s.backward_all()],
        lambda s: [*s.fetch_all(10, 15)],
        lambda s: [*s.backward_fetch_all(10, 15)],
        lambda s: [*s.fetch_range("b", None, 0, 50)],
        lambda s: [*s.backward_fetch_range(None, "a", 0, 10)],
    )

    a, b = (
        [(WindowedKey("a", start, start + 10), value) for start, value in [(0, 1), (10, 4), (20, 3)]],
        (
            WindowedKey("b", 10, 20),
            2,
        ),
    )
    assert results[1:] == [[*a, b], [b, *a[::-1]], [a[1], b], [b, a[1]], [b], [a[1], a[0]]]


def test_a_window_is_removed_by_none(store: Asking) -> None:
    results = store.does(filled, lambda s: s.put("a", None, 10), lambda s: [*s.fetch("a", 0, 99)])

    assert results[2] == [(0, 1), (20, 3)]
    assert store.jvm.content() == {"a": {(0, 0): 1, (20, 0): 3}, "b": {(10, 0): 2}}


def test_what_is_older_than_the_retention_is_neither_found_nor_put(store: Asking) -> None:
    results = store.does(
        filled,
        lambda s: s.put("b", 5, 109),
        lambda s: (s.fetch("a", 10), s.fetch("a", 9), [*s.fetch("a", 0, 99)]),
        lambda s: s.put("b", 6, 110),
        lambda s: (s.fetch("a", 10), [*s.fetch("a", 0, 99)], [key.start for key, _ in s.all()]),
        lambda s: s.put("a", 7, 10),
        lambda s: s.put("a", 7, 11),
        lambda s: [*s.fetch("a", 0, 99)],
    )

    assert results[2] == (4, None, [(10, 4), (20, 3)])
    assert results[4] == (None, [(20, 3)], [20, 109, 110])
    assert results[7] == [(11, 7), (20, 3)]


def test_the_retention_holds_after_a_restart(store: Asking) -> None:
    store.does(filled, lambda s: s.put("b", 6, 110))

    store.jvm.restart()

    assert store.does(lambda s: s.put("a", 8, 5), lambda s: [*s.fetch("a", 0, 99)])[1] == [(20, 3)]


def test_rows_that_are_gone_do_not_stay_in_memory(store: Asking) -> None:
    for start in range(0, 1000, 10):
        store.does_one(lambda s, start=start: s.put("a", start, start))

    group = store.does_one(lambda s: s.group("a"))

    assert [item.time for item in group.items] == list(range(900, 1000, 10))


def test_an_iterator_shows_the_store_as_it_was(store: Asking) -> None:
    def walk(s: Any) -> list[Any]:
        found = []
        for start, value in s.fetch("a", 0, 99):
            found.append((start, value))
            s.put("a", None, start)
            s.put("a", 9, start + 5)
        return found

    assert store.does(filled, walk, lambda s: [*s.fetch("a", 0, 99)])[1:] == [
        [(0, 1), (10, 4), (20, 3)],
        [(5, 9), (15, 9), (25, 9)],
    ]


@pytest.mark.parametrize(
    ("use", "error"),
    [
        (lambda s: s.put(None, 1, 0), ValueError),
        (lambda s: s.fetch(None, 0), ValueError),
        (lambda s: s.put("a", 1, -1), ValueError),
        (lambda s: s.put("a", 1, 1.5), TypeError),
        (lambda s: s.put("a", "text", 0), TypeError),
        (lambda s: s.put("a", 1, 1 << 63), ValueError),
        (lambda s: s.fetch("a", 0.5, 9), TypeError),
        (lambda s: s.backward_fetch("a", 0, None), TypeError),
        (lambda s: s.fetch_range("a", "b", 0, 9.5), TypeError),
        (lambda s: s.fetch_all(0, float("inf")), TypeError),
    ],
)
def test_what_cannot_be_is_refused(store: Asking, use: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        store.does_one(use)


def test_times_that_no_window_can_have_bound_what_is_looked_for(store: Asking) -> None:
    results = store.does(
        filled,
        lambda s: [*s.fetch("a", -(1 << 70), 1 << 70)] == [*s.fetch("a", 0, 99)],
        lambda s: [*s.fetch_all(-5, 1 << 64)] == [*s.all()],
        lambda s: [*s.fetch_all(-9, -5)],
    )

    assert results[1:] == [True, True, []]
