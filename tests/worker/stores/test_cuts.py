"""Stores answer the same however steps are cut into batches, workers lost and rows forgotten."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from brookmere.record import WindowedKey
from brookmere.worker.protocol.stage_code import StoreCode, TypeCode
from brookmere.worker.stores import store as stores
from tests.worker.jvm import LONG, STRING
from tests.worker.stores.asking import Asking, Step

STEPS = 120
PAIR = TypeCode(
    '{"type":"struct","fields":[{"name":"n","type":"long","nullable":true,"metadata":{}},'
    '{"name":"l","type":{"type":"array","elementType":"long","containsNull":true},"nullable":true,"metadata":{}}]}'
)


def key_value(random: Random) -> Step:
    key, value, upper = _key(random), random.choice([None, 1, 2, 3]), _key(random)
    return random.choice(
        [
            lambda s: s.get(key),
            lambda s: s.put(key, value),
            lambda s: s.put_if_absent(key, value),
            lambda s: s.delete(key),
            lambda s: [*s.range(key, upper)],
            lambda s: [*s.reverse_all()],
            lambda s: s.approximate_num_entries(),
        ]
    )


def structs(random: Random) -> Step:
    key, number = _key(random), random.randrange(5)

    def add(s: Any) -> Any:
        value = s.get(key) or {"n": 0, "l": []}
        value["n"] += 1
        value["l"].append(number)
        s.put(key, value)
        return value

    def change_without_put(s: Any) -> Any:
        value = s.get(key)
        if value is not None:
            value["l"].clear()
        return s.get(key)

    return random.choice([add, change_without_put, lambda s: s.delete(key), lambda s: [*s.all()]])


def window(random: Random) -> Step:
    key, start, value = _key(random), random.randrange(0, 300), random.choice([None, 1, 2])
    to = start + random.randrange(80)
    return random.choice(
        [
            lambda s: s.put(key, value, start),
            lambda s: s.put(key, value, start // 20 * 20),
            lambda s: s.fetch(key, start // 20 * 20),
            lambda s: [*s.fetch(key, start, to)],
            lambda s: [*s.backward_fetch(key, start, to)],
            lambda s: [*s.fetch_all(start, to)],
            lambda s: [*s.backward_all()],
        ]
    )


def session(random: Random) -> Step:
    key, start, value = _key(random), random.randrange(0, 300), random.choice([None, 1, 2])
    end = start + random.choice([0, 5, 20])
    return random.choice(
        [
            lambda s: s.put(WindowedKey(key, start, end), value),
            lambda s: s.put(WindowedKey(key, start // 30 * 30, start // 30 * 30 + 10), value),
            lambda s: s.remove(WindowedKey(key, start // 30 * 30, start // 30 * 30 + 10)),
            lambda s: [*s.find_sessions(key, start, end)],
            lambda s: [*s.backward_fetch(key)],
            lambda s: [*s.fetch_range(None, None)],
        ]
    )


def versioned(random: Random) -> Step:
    key, time, value = _key(random), random.randrange(0, 300), random.choice([None, 1, 2])
    return random.choice(
        [
            lambda s: s.put(key, value, time),
            lambda s: s.put(key, value, time // 20 * 20),
            lambda s: s.delete(key, time),
            lambda s: s.get(key),
            lambda s: s.get(key, time),
        ]
    )


def _key(random: Random) -> str:
    return random.choice(["a", "b", "bb", "c"])


KINDS: list[tuple[StoreCode, Callable[[Random], Step]]] = [
    (StoreCode("s", "key_value", STRING, LONG), key_value),
    (StoreCode("s", "key_value", STRING, PAIR), structs),
    (StoreCode("s", "window", STRING, LONG, retention_ms=100, window_ms=20), window),
    (StoreCode("s", "session", STRING, LONG, retention_ms=100), session),
    (StoreCode("s", "versioned", STRING, LONG, retention_ms=100), versioned),
]


@pytest.mark.parametrize(("code", "step_of"), KINDS, ids=lambda part: getattr(part, "__name__", ""))
@pytest.mark.parametrize("seed", range(6))
def test_answers_do_not_depend_on_cuts_restarts_and_caches(
    code: StoreCode, step_of: Callable[[Random], Step], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    steps = [step_of(random) for _ in range(STEPS)]
    expected = Asking(code).does(*steps)

    monkeypatch.setattr(stores, "MOST_KEYS", 2)
    monkeypatch.setattr(stores, "SAMPLE", 1)
    cut = Asking(code, key="a")
    answers: list[Any] = []
    while len(answers) < STEPS:
        some = steps[len(answers) : len(answers) + random.randrange(1, 9)]
        answers += cut.does(*some, cut=random.randrange(1, 4))
        if random.random() < 0.3:
            cut.jvm.restart()

    assert answers == expected
