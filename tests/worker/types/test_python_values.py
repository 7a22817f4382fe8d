from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from brookmere.record import WindowedKey
from brookmere.worker.protocol.stage_code import TypeCode
from brookmere.worker.types.annotations import resolved
from brookmere.worker.types.python_values import reader, writer


@dataclass(frozen=True)
class Item:
    name: str
    price: Decimal


@dataclass
class Order:
    id: int
    day: date
    items: list[Item] = field(default_factory=list)
    best: Item | None = None
    by_name: dict[str, Item] = field(default_factory=dict)


def code(kind: Any, **more: Any) -> TypeCode:
    return TypeCode(json.dumps(kind), **more)


def struct(**fields: Any) -> dict[str, Any]:
    members = [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in fields.items()]
    return {"type": "struct", "fields": members}


def array(element: Any) -> dict[str, Any]:
    return {"type": "array", "elementType": element, "containsNull": True}


def mapping(key: Any, value: Any) -> dict[str, Any]:
    return {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": True}


ITEM = struct(name="string", price="decimal(10,2)")
ORDER = struct(id="long", day="date", items=array(ITEM), best=ITEM, by_name=mapping("string", ITEM))


def python(kind: TypeCode, wire: Any) -> Any:
    read = reader(kind)
    return wire if read is None else read(wire)


def wire(kind: TypeCode, value: Any) -> Any:
    write = writer(kind)
    assert write is not None
    return write(value)


@pytest.mark.parametrize(
    "kind", ["string", "long", "integer", "short", "byte", "double", "boolean", "binary"]
)
def test_scalars_are_handed_on_as_they_came(kind: str) -> None:
    assert reader(code(kind)) is None


@pytest.mark.parametrize(
    ("kind", "travels", "seen"),
    [
        ("string", "a", "a"),
        ("long", -(2**63), -(2**63)),
        ("double", 1.5, 1.5),
        ("boolean", True, True),
        ("binary", b"\x00", b"\x00"),
        ("date", -1, date(1969, 12, 31)),
        ("timestamp", 1_000_001, datetime(1970, 1, 1, 0, 0, 1, 1, tzinfo=UTC)),
        ("timestamp", -1, datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)),
        ("timestamp_ntz", 1_000_000, datetime(1970, 1, 1, 0, 0, 1)),
        ("decimal(10,2)", "-1.50", Decimal("-1.50")),
        ("void", None, None),
        (array("date"), [0, None], [date(1970, 1, 1), None]),
        (mapping("string", "date"), {"a": 0}, {"a": date(1970, 1, 1)}),
        (mapping("date", "long"), {0: 1}, {date(1970, 1, 1): 1}),
        (mapping(struct(a="long", b="date"), "long"), [((1, 0), 2)], {(1, date(1970, 1, 1)): 2}),
    ],
)
def test_a_value_is_the_same_after_the_way_there_and_back(kind: Any, travels: Any, seen: Any) -> None:
    found = python(code(kind), travels)

    assert found == seen
    assert type(found) is type(seen)
    assert wire(code(kind), found) == travels


@pytest.mark.parametrize("kind", ["string", "date", "decimal(5,1)", struct(a="long"), array("long"), ITEM])
def test_none_is_none_in_every_type(kind: Any) -> None:
    assert python(code(kind), None) is None
    assert wire(code(kind), None) is None


def test_a_struct_is_a_dict_and_leaves_as_the_tuple_of_its_fields() -> None:
    kind = code(struct(a="long", day="date", inner=struct(b="string")))

    found = python(kind, {"a": 1, "day": 0, "inner": {"b": "x"}})

    assert found == {"a": 1, "day": date(1970, 1, 1), "inner": {"b": "x"}}
    assert wire(kind, found) == (1, 0, ("x",))
    assert python(kind, (1, 0, ("x",))) == found


def test_what_user_code_gets_is_its_own() -> None:
    kind = code(struct(a="long", more=array("long")))
    kept = {"a": 1, "more": [1]}

    seen = python(kind, kept)
    seen["a"] = 2
    seen["more"].append(2)

    assert kept == {"a": 1, "more": [1]}


def test_a_dataclass_is_made_at_any_depth() -> None:
    kind = code(ORDER, made=resolved(Order))
    item = {"name": "tea", "price": "2.50"}
    tea = Item("tea", Decimal("2.50"))

    found = python(kind, {"id": 1, "day": 1, "items": [item], "best": None, "by_name": {"x": item}})

    assert found == Order(1, date(1970, 1, 2), [tea], None, {"x": tea})
    assert wire(kind, found) == (1, 1, [("tea", "2.50")], None, {"x": ("tea", "2.50")})


def test_a_list_of_dataclasses_is_made() -> None:
    kind = code(array(ITEM), made=resolved(list[Item]))

    assert python(kind, [("tea", "1.00"), None]) == [Item("tea", Decimal("1.00")), None]


def test_fields_that_a_dataclass_does_not_have_are_left_out() -> None:
    kind = code(struct(name="string", price="decimal(10,2)", more="long"), made=resolved(Item))

    assert python(kind, {"name": "tea", "price": "1.00", "more": 1}) == Item("tea", Decimal("1.00"))


def test_a_windowed_key_travels_as_a_struct() -> None:
    kind = code(struct(key=ITEM, start="long", end="long"), made=resolved(Item), is_windowed=True)

    found = python(kind, {"key": {"name": "tea", "price": "1.00"}, "start": 0, "end": 10})

    assert found == WindowedKey(Item("tea", Decimal("1.00")), 0, 10)
    assert wire(kind, found) == (("tea", "1.00"), 0, 10)


def test_a_pickled_value_is_any_object() -> None:
    kind = code("binary", is_pickled=True)

    assert python(kind, wire(kind, {1, 2, Item("a", Decimal(1))})) == {1, 2, Item("a", Decimal(1))}
    assert wire(kind, None) is None


def test_values_of_no_known_type_are_handed_on() -> None:
    assert reader(None) is None
    assert writer(None) is None
