"""What stores of every kind can be asked, and what they refuse."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import brookmere as bm
from brookmere.errors import PositionError, StoreNotReadyError, StoreTypeError
from brookmere.state import (
    CountQuery,
    KeyQuery,
    RangeQuery,
    Row,
    StoreInfo,
    WindowKeyQuery,
    WindowRangeQuery,
)
from brookmere.state.position import Offsets, Position
from tests.state.worlds import World, totals

WINDOWS = StoreInfo("windows", "window", "windows", bm.Text(), bm.Long(), window_ms=10, retention_ms=100)
SESSIONS = StoreInfo("sessions", "session", "sessions", bm.Text(), bm.Long(), retention_ms=100)
VERSIONS = StoreInfo("versions", "versioned", "versions", bm.Text(), bm.Long(), retention_ms=100)
WINDOWED = bm.Windowed(bm.Text(), size=timedelta(milliseconds=10))
SESSION_KEY = bm.Windowed(bm.Text(), session=True)


def window(key: str, start: int) -> bm.WindowedKey:
    return bm.WindowedKey(key, start, start + 10)


def filled(world: World, info: StoreInfo, rows: dict[Any, Any], key: bm.Serde | None = None) -> Any:
    """Return a store in memory that has these rows."""
    world.create(info.topic)
    world.put(info.topic, rows, key=key, timestamp=5)
    replica = world.replica(info)
    return world.level(replica[info.name])


def test_rows_by_key_are_found_by_key_range_and_prefix(world: World) -> None:
    store = filled(world, totals(), {"b": 2, "a": 1, "ab": 3, "c": 4})

    assert (store.get("a"), store.get("none"), store.get_with_timestamp("a")) == (1, None, (1, 5))
    assert list(store.range("a", "b")) == [("a", 1), ("ab", 3), ("b", 2)]
    assert list(store.range("ab", reverse=True)) == [("c", 4), ("b", 2), ("ab", 3)]
    assert list(store.range(upper="ab")) == [("a", 1), ("ab", 3)]
    assert list(store.prefix("a")) == [("a", 1), ("ab", 3)]
    assert list(store.prefix(b"a", reverse=True)) == [("ab", 3), ("a", 1)]
    assert [key for key, _ in store.all()] == ["a", "ab", "b", "c"]
    assert (store.count(), store.raw(b"a")) == (4, (bm.Long().serialize(1), 5))
    assert store.query(KeyQuery("b")).value == Row("b", 2, 5)
    assert store.query(KeyQuery("none")).value is None


def test_windows_are_found_by_start_key_and_time(world: World) -> None:
    rows = {window("a", 0): 1, window("a", 10): 2, window("b", 10): 3, window("a", 20): 4}
    store = filled(world, WINDOWS, rows, WINDOWED)

    assert (store.get("a", 10), store.get("a", 11), store.get("c", 10)) == (2, None, None)
    assert store.get("a", datetime.fromtimestamp(0.01, UTC)) == 2
    assert list(store.fetch("a")) == [(window("a", 0), 1), (window("a", 10), 2), (window("a", 20), 4)]
    assert list(store.fetch("a", 10, 19, reverse=True)) == [(window("a", 10), 2)]
    assert [value for _, value in store.fetch_all(10)] == [2, 3, 4]
    assert [value for _, value in store.all(reverse=True)] == [4, 3, 2, 1]
    assert store.count() == 4


def test_sessions_are_found_by_key_and_time(world: World) -> None:
    rows = {
        bm.WindowedKey("a", 0, 5): 1, bm.WindowedKey("a", 20, 30): 2, bm.WindowedKey("b", 4, 4): 3,
    }  # fmt: skip
    store = filled(world, SESSIONS, rows, SESSION_KEY)

    assert list(store.fetch("a")) == [(bm.WindowedKey("a", 0, 5), 1), (bm.WindowedKey("a", 20, 30), 2)]
    assert [value for _, value in store.find("a", 6, 20)] == [2]
    assert [value for _, value in store.find("a", 5, 19)] == [1]
    assert [value for _, value in store.all()] == [3, 1, 2]
    assert store.count() == 3


def test_versions_are_found_by_time(world: World) -> None:
    world.create("versions", 1)
    for timestamp, value in [(10, 1), (20, None), (30, 3)]:
        world.put("versions", {"a": value}, timestamp=timestamp)
    replica = world.replica(VERSIONS)
    store: Any = world.level(replica["versions"])

    assert [store.get("a", as_of) for as_of in (9, 10, 19, 20, 30, None)] == [None, 1, 1, None, 3, 3]
    assert store.get_with_timestamp("a", 15) == (1, 10)
    assert [tuple(version) for version in store.versions("a")] == [(1, 10, 20), (3, 30, None)]
    assert list(store.all()) == [("a", 3)]


@pytest.mark.parametrize(
    ("info", "ask", "hint"),
    [
        (totals(), "fetch", r"get\(\), range\(\)"),
        (WINDOWS, "range", r"fetch\(key, start, end\)"),
        (SESSIONS, "get", r"find\(key, earliest_end"),
        (VERSIONS, "fetch_all", r"versions\(key"),
    ],
)
def test_a_question_that_the_store_does_not_answer_is_refused(
    world: World, info: StoreInfo, ask: str, hint: str
) -> None:
    store = filled(world, info, {})

    with pytest.raises(StoreTypeError, match=f"has no {ask}.*{hint}"):
        getattr(store, ask)
    with pytest.raises(AttributeError):
        _ = store.nonsense


def test_a_query_for_another_kind_of_store_is_refused(world: World) -> None:
    store = filled(world, totals(), {})

    with pytest.raises(StoreTypeError, match=r"does not support WindowKeyQuery.*queries window stores"):
        store.query(WindowKeyQuery("a"))


def test_a_result_tells_how_fresh_it_is(world: World) -> None:
    store = filled(world, totals(), {"a": 1, "b": 2})

    result = store.query(CountQuery())

    assert (result.value, result.lag, result.cursor) == (2, 0, None)
    assert sum(result.position["totals"].values()) == 2
    assert result.checked_at > 1_700_000_000_000


def test_pages_follow_each_other_through_cursors(world: World) -> None:
    store = filled(world, totals(), {f"{number:02}": number for number in range(25)})

    for reverse in (False, True):
        found, cursor = [], None
        while True:
            result = store.query(RangeQuery("03", "22", reverse=reverse, limit=7, cursor=cursor))
            found += [row.value for row in result.value]
            cursor = result.cursor
            if cursor is None:
                break
        assert found == sorted(range(3, 23), reverse=reverse)


def test_a_page_that_is_full_and_the_last_has_no_cursor(world: World) -> None:
    store = filled(world, WINDOWS, {window("a", start): start for start in (0, 10, 20)}, WINDOWED)

    assert store.query(WindowRangeQuery(limit=3)).cursor is None
    assert store.query(WindowRangeQuery(limit=2)).cursor is not None


@pytest.mark.parametrize("cursor", ["", "-", "AA", "ä", "no cursor"])
def test_what_is_no_cursor_is_refused(world: World, cursor: str) -> None:
    store = filled(world, totals(), {"a": 1})

    with pytest.raises(ValueError, match="is not the cursor of a page"):
        store.query(RangeQuery(cursor=cursor))


def test_limits_and_bounds_are_checked(world: World) -> None:
    store = filled(world, totals(), {"a": 1})

    with pytest.raises(ValueError, match="limit must be at least 1"):
        store.query(RangeQuery(limit=0))
    with pytest.raises(ValueError, match="not both"):
        store.query(RangeQuery("a", prefix="a"))
    with pytest.raises(ValueError, match="always have a key, found None"):
        store.get(None)
    with pytest.raises(TypeError, match="str"):
        store.get(17)


def test_what_is_no_time_no_prefix_and_no_query_is_told_as_such(world: World) -> None:
    windows = filled(world, WINDOWS, {window("a", 0): 1}, WINDOWED)
    versions = filled(world, VERSIONS, {"a": 1})
    store = filled(world, totals(), {"a": 1})

    with pytest.raises(TypeError, match=r"a time is a datetime, or milliseconds .*found str '2025'"):
        list(windows.fetch("a", "2025"))
    with pytest.raises(TypeError, match=r"a time is .*found float 1\.5"):
        versions.get("a", as_of=1.5)
    with pytest.raises(TypeError, match=r"a prefix is text, .*found int 5"):
        list(store.prefix(5))
    with pytest.raises(TypeError, match=r"such as KeyQuery\(key\); found str 'a'"):
        store.query("a")


def test_at_least_waits_for_what_is_written_later(world: World) -> None:
    store = filled(world, totals(), {"a": 1})
    topic = world.topics["totals"]
    wanted = {"totals": {p: end + 1 for p, end in enumerate(topic.end_offsets())}}
    writer = threading.Timer(
        0.1, lambda: [world.put("totals", {"b": 2}, partition=partition) for partition in (0, 1)]
    )
    writer.start()

    assert store.at_least(wanted, "20s") is store

    writer.join()
    assert Position(store.position()).covers(wanted)


def test_at_least_does_not_wait_for_ever(world: World) -> None:
    store = filled(world, totals(), {"a": 1})

    with pytest.raises(PositionError, match=r"within 0.01 s.*wanted {0: 99}"):
        store.at_least({"totals": {0: 99}}, "10ms")
    with pytest.raises(PositionError, match=r"does not know how far the topic 'views'.*Known here: totals"):
        store.at_least({"views": {0: 1}}, "10ms")


class Processed:
    """An application that is always up to date with the topic `views`."""

    def __init__(self, world: World) -> None:
        self._world = world

    def topics(self) -> list[str]:
        return ["views"]

    def wait(self, wanted: dict[str, Offsets], deadline: float) -> bool:
        self._world.put("totals", {"from views": sum(wanted["views"].values())})
        return wanted["views"] != {0: 99}

    def covered(self, changelog: str, positions: Offsets) -> Position:
        return Position({"views": {0: sum(positions.values())}}) if changelog == "totals" else Position()


def test_what_the_application_has_read_is_waited_for(world: World) -> None:
    world.create("totals", 1)
    with world.replica(totals(), inputs=Processed(world)) as replica:
        store: Any = replica["totals"].wait("20s")

        assert store.at_least({"views": {0: 17}}, "20s").get("from views") == 17
        assert store.query(CountQuery()).inputs == {"views": {0: 1}}
        with pytest.raises(PositionError, match="not processed everything"):
            store.at_least({"views": {0: 99}}, "20s")


def test_a_stale_store_answers_before_it_has_caught_up(world: World) -> None:
    world.create("totals", 1)
    world.put("totals", {"a": 1})
    replica = world.replica(totals())
    store: Any = replica["totals"]
    world.level(store)
    # As while it catches up again.
    store._tail.is_ready, store._tail.answering = False, None

    with pytest.raises(StoreNotReadyError, match=r"Wait with wait\(\), or read what is there with stale"):
        store.get("a")

    assert store.stale().get("a") == 1
    replica.close()
