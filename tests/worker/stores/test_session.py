"""Session stores: Kafka Streams' methods, and what the retention leaves of them."""

from __future__ import annotations

from typing import Any

import pytest

from brookmere.record import WindowedKey
from brookmere.worker.protocol.stage_code import StoreCode
from tests.worker.jvm import LONG, STRING
from tests.worker.stores.asking import Asking

SESSIONS = [("a", 0, 5), ("a", 10, 20), ("b", 12, 12), ("a", 30, 30)]


@pytest.fixture
def store() -> Asking:
    return Asking(StoreCode("sessions", "session", STRING, LONG, retention_ms=100))


def filled(s: Any) -> None:
    for value, session in enumerate(SESSIONS):
        s.put(WindowedKey(*session), value)


def spans(found: Any) -> list[tuple[Any, ...]]:
    return [(key.key, key.start, key.end, value) for key, value in found]


def test_a_session_is_found_by_its_bounds(store: Asking) -> None:
    results = store.does(
        filled, lambda s: s.fetch_session("a", 10, 20), lambda s: s.fetch_session("a", 10, 21)
    )

    assert results[1:] == [1, None]
    assert store.jvm.content()["a"] == {(5, 0): 0, (20, 10): 1, (30, 30): 3}


def test_sessions_are_found_by_earliest_end_and_latest_start(store: Asking) -> None:
    results = store.does(
        filled,
        lambda s: spans(s.find_sessions("a", 5, 10)),
        lambda s: spans(s.find_sessions("a", 6, 29)),
        lambda s: spans(s.backward_find_sessions("a", 0, 99)),
        lambda s: spans(s.find_sessions("a", 21, 29)),
    )

    assert results[1:] == [
        [("a", 0, 5, 0), ("a", 10, 20, 1)],
        [("a", 10, 20, 1)],
        [("a", 30, 30, 3), ("a", 10, 20, 1), ("a", 0, 5, 0)],
        [],
    ]


def test_sessions_of_a_key_and_of_many_keys(store: Asking) -> None:
    results = store.does(
        filled,
        lambda s: spans(s.fetch("b")),
        lambda s: [key[:3] for key in spans(s.backward_fetch("a"))],
        lambda s: [key[:3] for key in spans(s.fetch_range("a", "b"))],
        lambda s: [key[:3] for key in spans(s.backward_fetch_range(None, None))],
    )

    in_order = [SESSIONS[0], SESSIONS[1], SESSIONS[3], SESSIONS[2]]
    assert results[1:] == [
        [("b", 12, 12, 2)],
        [SESSIONS[3], SESSIONS[1], SESSIONS[0]],
        in_order,
        in_order[::-1],
    ]


def test_a_session_is_removed_by_remove_and_by_none(store: Asking) -> None:
    results = store.does(
        filled,
        lambda s: s.remove(WindowedKey("a", 10, 20)),
        lambda s: s.put(WindowedKey("a", 0, 5), None),
        lambda s: s.remove(WindowedKey("a", 1, 2)),
        lambda s: spans(s.fetch("a")),
    )

    assert results[4] == [("a", 30, 30, 3)]


def test_what_ended_before_the_retention_is_neither_found_nor_put(store: Asking) -> None:
    results = store.does(
        filled,
        lambda s: s.put(WindowedKey("b", 0, 105), 9),
        lambda s: spans(s.fetch("a")),
        lambda s: s.fetch_session("a", 0, 5),
        lambda s: s.put(WindowedKey("a", 1, 5), 8),
        lambda s: s.put(WindowedKey("a", 1, 6), 8),
        lambda s: spans(s.fetch("a")),
    )

    assert results[2] == [("a", 10, 20, 1), ("a", 30, 30, 3)]
    assert results[3] is None
    assert results[6] == [("a", 1, 6, 8), ("a", 10, 20, 1), ("a", 30, 30, 3)]


def test_a_removal_moves_the_time_of_the_store_as_a_put_does(store: Asking) -> None:
    results = store.does(
        filled,
        lambda s: s.remove(WindowedKey("b", 90, 105)),
        lambda s: spans(s.fetch("a")),
    )

    assert results[2] == [("a", 10, 20, 1), ("a", 30, 30, 3)]


def test_what_is_no_session_is_refused(store: Asking) -> None:
    with pytest.raises(TypeError, match=r"keeps sessions: found str; give a WindowedKey\(key, start, end\)"):
        store.does_one(lambda s: s.put("a", 1))
    with pytest.raises(ValueError, match="has no key None"):
        store.does_one(lambda s: s.put(WindowedKey(None, 0, 1), 1))


@pytest.mark.parametrize(
    "use",
    [
        lambda s: s.put(WindowedKey("a", 0.5, 9), 1),
        lambda s: s.remove(WindowedKey("a", 0, 9.0)),
        lambda s: s.find_sessions("a", 0, "9"),
        lambda s: s.fetch_session("a", "0", 9),
    ],
)
def test_what_is_no_time_is_refused(store: Asking, use: Any) -> None:
    with pytest.raises(TypeError, match=r"counts milliseconds since 1970: found .*; give an int"):
        store.does_one(use)
