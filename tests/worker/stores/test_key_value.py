"""Key-value stores: Kafka Streams' methods, what is shared with user code, and what the JVM is asked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any

import pytest

from brookmere.record import WindowedKey
from brookmere.worker.protocol.stage_code import StoreCode, TypeCode
from brookmere.worker.stores import store as stores
from brookmere.worker.types.annotations import resolved
from tests.worker.jvm import LONG, STRING
from tests.worker.stores.asking import Asking


@dataclass
class Point:
    """A value with parts."""

    x: int
    tags: list[str]


def fields(*named: tuple[str, Any]) -> str:
    parts = ",".join(
        f'{{"name":"{name}","type":{kind},"nullable":true,"metadata":{{}}}}' for name, kind in named
    )
    return f'{{"type":"struct","fields":[{parts}]}}'


LIST = '{"type":"array","elementType":"string","containsNull":true}'
STRUCT = TypeCode(fields(("x", '"long"'), ("tags", LIST)))
POINT = TypeCode(STRUCT.json, made=resolved(Point))
WINDOWED = TypeCode(fields(("key", '"string"'), ("start", '"long"'), ("end", '"long"')), is_windowed=True)
ANY = TypeCode('"binary"', is_pickled=True)
DATE = TypeCode('"date"')


def asking(key: TypeCode = STRING, value: TypeCode = LONG) -> Asking:
    return Asking(StoreCode("store", "key_value", key, value))


# A store of scalars is another class than one of other types: what holds for one must hold for both.
BOTH = pytest.mark.parametrize(
    ("store", "one", "two"),
    [(asking(), 1, 2), (asking(value=STRUCT), {"x": 1, "tags": []}, {"x": 2, "tags": ["a"]})],
    ids=["scalars", "structs"],
)


@BOTH
def test_a_value_is_got_as_it_was_put(store: Asking, one: Any, two: Any) -> None:
    results = store.does(
        lambda s: s.get("a"),
        lambda s: s.put("a", one),
        lambda s: s.get("a"),
        lambda s: s.put("a", two),
        lambda s: s.get("a"),
        lambda s: s.put("a", None),
        lambda s: s.get("a"),
    )

    assert results == [None, None, one, None, two, None, None]
    assert store.jvm.content() == {}


@BOTH
def test_the_other_writes_are_those_of_kafka_streams(store: Asking, one: Any, two: Any) -> None:
    results = store.does(
        lambda s: s.put_if_absent("a", one),
        lambda s: s.put_if_absent("a", two),
        lambda s: s.put_all([("b", one), ("c", two), ("b", None)]),
        lambda s: s.delete("c"),
        lambda s: s.delete("c"),
        lambda s: [*s.all()],
        lambda s: s.delete("a"),
    )

    assert results == [None, one, None, two, None, [("a", one)], one]


@BOTH
def test_ranges_come_in_the_order_of_the_keys_with_what_was_just_put(
    store: Asking, one: Any, two: Any
) -> None:
    store.does_one(lambda s: s.put_all([("b", one), ("a", two), ("bb", one)]))

    results = store.does(
        lambda s: s.put("c", two),
        lambda s: [key for key, _ in s.all()],
        lambda s: [key for key, _ in s.reverse_all()],
        lambda s: [*s.range("a", "b")],
        lambda s: [key for key, _ in s.range("b", None)],
        lambda s: [key for key, _ in s.reverse_range(None, "bb")],
        lambda s: [key for key, _ in s.range("c", "a")],
        lambda s: [key for key, _ in s.prefix_scan("b")],
        lambda s: s.approximate_num_entries(),
        lambda s: s.put_all([(key, None) for key in ("a", "b", "bb", "c")]),
    )

    assert results[1:-1] == [
        ["a", "b", "bb", "c"],
        ["c", "bb", "b", "a"],
        [("a", two), ("b", one)],
        ["b", "bb", "c"],
        ["bb", "b", "a"],
        [],
        ["b", "bb"],
        4,
    ]


@BOTH
def test_an_iterator_shows_the_store_as_it_was(store: Asking, one: Any, two: Any) -> None:
    store.does_one(lambda s: s.put_all([("a", one), ("b", one)]))

    def walk(s: Any) -> list[Any]:
        found = []
        for key, value in s.all():
            found.append((key, value))
            s.put("b", two)
            s.delete(key)
        return found

    assert store.does_one(walk) == [("a", one), ("b", one)]
    assert store.does_one(lambda s: [*s.all()]) == []


@BOTH
@pytest.mark.parametrize("use", [lambda s: s.get(None), lambda s: s.put(None, 1), lambda s: s.delete(None)])
def test_a_key_none_is_refused(store: Asking, one: Any, two: Any, use: Any) -> None:
    with pytest.raises(ValueError, match="the store 'store' has no key None"):
        store.does_one(use)


@BOTH
def test_what_does_not_fit_is_refused_where_it_is_put(store: Asking, one: Any, two: Any) -> None:
    with pytest.raises(TypeError, match="a value of the store 'store'"):
        store.does_one(lambda s: s.put("a", "text"))
    with pytest.raises(TypeError, match="a key of the store 'store'"):
        store.does_one(lambda s: s.put(5, one))
    with pytest.raises(TypeError, match="a key of the store 'store'"):
        store.does_one(lambda s: s.get(5))


def test_a_value_that_is_changed_in_place_stays_what_it_was_until_it_is_put() -> None:
    store = asking(value=STRUCT)

    def change_without_put(s: Any) -> None:
        s.get("a")["tags"].append("lost")

    def change_and_put(s: Any) -> None:
        value = s.get("a")
        value["tags"].append("kept")
        s.put("a", value)
        value["tags"].append("lost, too")

    results = store.does(
        lambda s: s.put("a", {"x": 1, "tags": []}),
        change_without_put,
        lambda s: s.get("a"),
        change_and_put,
        lambda s: s.get("a"),
    )

    assert results[2] == {"x": 1, "tags": []}
    assert results[4] == {"x": 1, "tags": ["kept"]}
    assert store.jvm.content() == {"a": (1, ["kept"])}


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (POINT, Point(1, ["a"])),
        (ANY, {1: {2, 3}}),
        (DATE, date(2024, 2, 29)),
        (STRUCT, {"x": None, "tags": None}),
    ],
)
def test_values_of_all_types_come_back_also_from_the_jvm(kind: TypeCode, value: Any) -> None:
    store = asking(value=kind)

    assert store.does(lambda s: s.put("a", value), lambda s: s.get("a"))[1] == value
    store.jvm.restart()
    assert store.does_one(lambda s: s.get("a")) == value
    assert store.does_one(lambda s: [*s.all()]) == [("a", value)]


@pytest.mark.parametrize(
    ("kind", "key", "other"),
    [
        (STRUCT, {"x": 1, "tags": ["a"]}, {"x": 1, "tags": ["b"]}),
        (POINT, Point(1, ["a"]), Point(2, [])),
        (WINDOWED, WindowedKey("a", 0, 10), WindowedKey("a", 10, 20)),
        (DATE, date(2024, 1, 1), date(2024, 1, 2)),
    ],
)
def test_keys_of_all_types_find_their_rows(kind: TypeCode, key: Any, other: Any) -> None:
    store = asking(key=kind)
    store.does_one(lambda s: s.put(key, 1))
    store.jvm.restart()

    results = store.does(
        lambda s: s.get(other),
        lambda s: s.get(key),
        lambda s: s.put(key, 2),
        lambda s: s.get(key),
        lambda s: [*s.all()],
    )

    assert results == [None, 1, None, 2, [(key, 2)]]


def test_a_key_that_is_changed_in_place_changes_no_row() -> None:
    store = asking(key=STRUCT)
    key: dict[str, Any] = {"x": 1, "tags": []}

    def put(s: Any) -> None:
        s.put(key, 1)
        key["tags"].append("a")

    store.does(put)

    assert store.jvm.content() == {(1, ()): 1}


def test_a_put_asks_nothing_and_keeps_the_time_of_its_record() -> None:
    store = asking()

    store.does(lambda s: s.put("a", 1), lambda s: s.put("a", 2), ts=7)

    assert store.jvm.questions == []
    assert store.jvm.rows[0, 0] == {"a": ("a", 2, 7)}


def test_a_key_of_a_class_of_its_own_is_the_plain_key() -> None:
    class Colour(StrEnum):
        RED = "red"

    store = asking()

    assert (
        store.does(lambda s: s.put("red", 1), lambda s: s.put(Colour.RED, 2), lambda s: s.get("red"))[2] == 2
    )
    assert store.jvm.content() == {"red": 2}


def test_a_missing_key_is_asked_for_once() -> None:
    store = asking()

    store.does(lambda s: s.get("a"), lambda s: s.get("a"))
    store.does(lambda s: s.get("a"), lambda s: s.get("b"))

    assert store.jvm.questions == [("get", 0, ["a"]), ("get", 0, ["b"])]


def test_too_many_keys_are_forgotten_and_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "MOST_KEYS", 20)
    for store in (asking(), asking(value=ANY)):
        store.does_one(lambda s: s.put_all([(str(n), n) for n in range(100)]))

        assert store.does_one(lambda s: [s.get(str(n)) for n in range(100)]) == list(range(100))
        assert len(store.jvm.questions) == 90


def test_too_many_keys_are_forgotten_within_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "MOST_KEYS", 20)
    for store in (asking(), asking(value=ANY)):
        put = [lambda s, n=n: s.put_all([(str(n + m), n + m) for m in range(10)]) for n in range(0, 100, 10)]

        store.does(*put, lambda s: s.get("0"), lambda s: s.get("99"), cut=1)

        assert store.jvm.questions == [("get", 0, ["0"])]


def test_large_values_are_forgotten_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "MOST_BYTES", 20_000)
    store = asking(value=STRING)
    store.does_one(lambda s: s.put_all([(str(n), "x" * 1000) for n in range(50)]))

    store.does_one(lambda s: [s.get(str(n)) for n in range(50)])

    assert len(store.jvm.questions) > 30


def test_the_store_of_a_table_can_only_be_read() -> None:
    store = Asking(StoreCode("table", "key_value", STRING, LONG, is_read=True))
    store.jvm.put(0, "a", 1)

    assert store.does(lambda s: s.get("a"), lambda s: [*s.all()]) == [1, [("a", 1)]]
    with pytest.raises(AttributeError, match=r"belongs to a table and can only be read: found put\(\)"):
        store.does_one(lambda s: s.put("a", 3))


@BOTH
def test_a_prefix_that_is_no_key_is_refused(store: Asking, one: Any, two: Any) -> None:
    with pytest.raises(
        TypeError, match="a key of the store 'store' does not fit: expected text, found int 5"
    ):
        store.does_one(lambda s: s.prefix_scan(5))


@pytest.mark.parametrize("key", [True, 1.0])
def test_a_key_that_is_only_equal_is_refused_also_where_the_row_is_known(key: Any) -> None:
    store = Asking(StoreCode("store", "key_value", LONG, LONG))
    store.does_one(lambda s: s.put(1, 5))

    with pytest.raises(TypeError, match="a key of the store 'store' does not fit: expected an integer"):
        store.does_one(lambda s: s.get(key))
