"""Updates of a store as they come, for fast readers and for slow ones."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

import brookmere as bm
from brookmere.errors import StoreError, StoreNotReadyError
from brookmere.state import StoreInfo, Update, updates
from tests.state.worlds import DEADLINE, World, totals, until


def shown(update: Update | None) -> tuple[object, object] | None:
    return None if update is None else (update.key, update.value)


def test_updates_come_from_now_on_in_the_order_of_the_partition(world: World) -> None:
    world.create("totals", 1)
    world.put("totals", {"ada": 1})
    with world.replica(totals()) as replica:
        store = world.level(replica["totals"])

        with store.updates() as found:
            world.put("totals", {"bob": 2, "ada": None}, timestamp=17)
            first, second = found.get("20s"), found.get(timedelta(seconds=20))

    assert first == Update("bob", 2, 17, 0, 1)
    assert second == Update("ada", None, 17, 0, 2)


def test_updates_of_one_key_leave_out_the_others(world: World) -> None:
    world.create("totals")
    with world.replica(totals()) as replica:
        store = world.level(replica["totals"])

        with store.updates("bob") as found:
            world.put("totals", {"ada": 1, "bob": 2})
            world.put("totals", {"bob": 3})
            values = [shown(found.get("20s")), shown(found.get("20s"))]
            world.level(store)
            assert found.get("0s") is None

    assert values == [("bob", 2), ("bob", 3)]


def test_updates_of_windows_are_found_by_the_key_alone(world: World) -> None:
    world.create("windows")
    info = StoreInfo("windows", "window", "windows", bm.Text(), bm.Long(), window_ms=10)
    keys = bm.Windowed(bm.Text(), size=timedelta(milliseconds=10))
    with world.replica(info) as replica:
        store = world.level(replica["windows"])

        with store.updates("ada") as found:
            rows = {bm.WindowedKey("bob", 0, 10): 1, bm.WindowedKey("ada", 20, 30): 2}
            world.put("windows", rows, key=keys)
            update = found.get("20s")

    assert shown(update) == (bm.WindowedKey("ada", 20, 30), 2)


def test_iterating_waits_and_ends_with_the_replica(world: World) -> None:
    world.create("totals")
    found = []
    with world.replica(totals()) as replica:
        store = world.level(replica["totals"])
        following = store.updates()
        reader = threading.Thread(target=lambda: found.extend(map(shown, following)))
        reader.start()
        world.put("totals", {"ada": 1})
        world.level(store)
        until(lambda: found, "an update")
    reader.join(20.0)

    assert found == [("ada", 1)]
    assert (following.is_closed, following.get()) == (True, None)


def test_nothing_comes_after_close(world: World) -> None:
    world.create("totals")
    with world.replica(totals()) as replica:
        store = world.level(replica["totals"])
        found = store.updates()
        found.close()

        world.put("totals", {"ada": 1})
        world.level(store)

        assert found.get("0s") is None


def test_a_listener_is_called_for_updates_and_for_the_end(world: World) -> None:
    world.create("totals")
    calls: list[object] = []
    with world.replica(totals()) as replica:
        store = world.level(replica["totals"])
        found = store.updates()
        found.on_update(lambda: calls.append(found.is_closed))
        world.put("totals", {"ada": 1})
        world.level(store)
        until(lambda: calls, "a call")

    assert (calls[0], calls[-1]) == (False, True)


def test_a_slow_reader_gets_the_last_update_of_each_key(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(updates, "_MOST_HELD", 5)
    world.create("totals", 1)
    with world.replica(totals()) as replica:
        store = world.level(replica["totals"])

        with store.updates() as found:
            for turn in range(4):
                world.put("totals", {"ada": turn, "bob": -turn})
                world.level(store)
            received = []
            while (update := found.get("0s")) is not None:
                received.append(shown(update))

    assert len(received) < 8
    assert dict(received) == {"ada": 3, "bob": -3}  # type: ignore[arg-type]


def test_who_has_missed_updates_is_told_and_not_only_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(updates, "_MOST_HELD", 5)
    world.create("totals", 1)
    with world.replica(totals()) as replica:
        store = world.level(replica["totals"])

        with store.updates() as found:
            world.put("totals", {str(number): number for number in range(6)})
            world.put("totals", {"later": 1})
            world.level(store)

            for _ in range(2):
                with pytest.raises(StoreError, match="More than 5 keys have changed"):
                    found.get("0s")


def test_who_follows_a_replica_that_begins_anew_is_told(world: World) -> None:
    world.create("totals", 1)
    world.put("totals", {"ada": 1})
    with world.replica(totals()) as replica:
        store = world.level(replica["totals"])

        with store.updates() as found:
            world.topics.delete("totals")
            world.create("totals", 1)
            world.put("totals", {"bob": 2})

            for _ in range(2):
                with pytest.raises(StoreNotReadyError, match=r"starts from scratch: .*subscribe again"):
                    found.get(timedelta(seconds=DEADLINE))
        store.wait(timedelta(seconds=DEADLINE))
        with store.updates() as found:
            world.put("totals", {"cyd": 3})
            following = found.get(timedelta(seconds=DEADLINE))

    assert following is not None
    assert shown(following) == ("cyd", 3)
