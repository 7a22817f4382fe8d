"""Many threads ask one replica while it changes, begins anew and closes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import brookmere as bm
from brookmere.errors import StoreNotReadyError
from brookmere.state import Replica, StoreInfo
from tests.state.worlds import World, totals, until

WINDOWS = StoreInfo("windows", "window", "windows", bm.Text(), bm.Long(), window_ms=10, retention_ms=500)


class Readers:
    """Threads that ask the same question again and again, until they are to stop."""

    def __init__(self, *questions: Callable[[], object]) -> None:
        self.answers = 0
        self.errors: list[Exception] = []
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._ask, args=(each,)) for each in questions]

    def __enter__(self) -> Readers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(20.0)

    def _ask(self, question: Callable[[], object]) -> None:
        # Others are to get some of the processor, too.
        while not self._over.wait(0.002):
            try:
                question()
                self.answers += 1
            except StoreNotReadyError:
                continue
            except Exception as error:  # noqa: BLE001 - the test looks at it
                self.errors.append(error)
                return


def asking(replica: Replica) -> Readers:
    store: Any = replica["totals"]
    windows: Any = replica["windows"]
    return Readers(
        lambda: store.get("k7"),
        lambda: list(store.all()),
        lambda: list(store.range("k1", "k5", reverse=True)),
        lambda: list(windows.all()),
        lambda: list(windows.fetch("k3")),
        lambda: (store.count(), replica.status()),
    )


@pytest.mark.parametrize("name", [None, "files"], ids=["memory", "files"])
def test_readers_get_answers_or_a_refusal_whatever_happens(world: World, name: str | None) -> None:
    world.create("totals")
    world.create("windows")
    replica = world.replica(totals(), WINDOWS, name=name)
    replica.start()

    with asking(replica) as readers:
        for turn in range(10):
            _change(world, turn)
        world.level(replica["totals"])
        world.topics.delete("totals")
        world.create("totals")
        _change(world, 1000)
        until(lambda: _is_anew(replica), "the rows of the new topic")
        replica.close()

    assert readers.errors == []
    assert readers.answers > 10


def test_readers_do_not_mind_that_replicas_close(world: World) -> None:
    world.create("totals")
    world.create("windows")
    _change(world, 1)

    for _ in range(5):
        replica = world.replica(totals(), WINDOWS, name="files")
        replica.start()
        with asking(replica) as readers:
            world.level(replica["totals"])
            until(lambda found=readers: found.answers > 10, "some answers")
            replica.close()
        assert readers.errors == []


def _change(world: World, turn: int) -> None:
    keys = bm.Windowed(bm.Text())
    world.put("totals", {f"k{number}": turn + number for number in range(200)})
    windows = {bm.WindowedKey(f"k{n}", 10 * (turn + n), 10 * (turn + n + 1)): n for n in range(50)}
    world.put("windows", windows, key=keys)


def _is_anew(replica: Replica) -> bool:
    store: Any = replica["totals"]
    return bool(store.is_ready) and store.get("k7") == 1007
