from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy
import pytest

from tests.worker.types.test_python_values import array, code, mapping, struct, wire


class Color(enum.StrEnum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


@dataclass
class Sale:
    item: str
    price: int


@pytest.mark.parametrize(
    ("kind", "returned", "travels"),
    [
        ("string", Color.RED, "red"),
        ("long", Level.HIGH, 3),
        ("double", 1, 1.0),
        ("double", Fraction(1, 2), 0.5),
        ("binary", bytearray(b"a"), b"a"),
        ("binary", memoryview(b"a"), b"a"),
        ("timestamp", datetime(1970, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))), 0),
        ("timestamp", datetime(1970, 1, 1), 0),
        ("decimal(5,2)", 1, "1.00"),
        ("decimal(5,2)", Decimal("1.005"), "1.01"),
        ("decimal(5,0)", Decimal("1E+3"), "1000"),
        (array("long"), (1, 2), [1, 2]),
        (struct(a="long", b="string"), {"b": "x"}, (None, "x")),
        (struct(a="long", b="string"), (1, "x"), (1, "x")),
        (struct(a="long", b="string"), [1, "x"], (1, "x")),
    ],
)
def test_what_python_takes_for_a_value_leaves_as_one(kind: Any, returned: Any, travels: Any) -> None:
    found = wire(code(kind), returned)

    assert found == travels
    assert type(found) is type(travels)


@pytest.mark.parametrize(
    ("kind", "returned", "message"),
    [
        ("string", 5, "value does not fit: expected text, found int 5; convert it, or change returns="),
        ("string", b"x", "expected text, found bytes b'x'"),
        ("long", True, "expected an integer, found bool True"),
        ("long", 1.0, "expected an integer, found float 1.0"),
        ("long", 2**63, "value does not fit 8 bytes: found 9223372036854775808; use a wider type"),
        ("integer", 2**31, "value does not fit 4 bytes"),
        ("byte", -129, "value does not fit 1 bytes"),
        ("double", "1", "expected a number, found str '1'"),
        ("double", False, "expected a number, found bool False"),
        ("boolean", 1, "expected True or False, found int 1"),
        ("binary", "x", "expected bytes, found str 'x'"),
        ("date", datetime(1970, 1, 1, tzinfo=UTC), "expected a date, found datetime"),
        ("timestamp", date(1970, 1, 1), "expected a datetime, found date"),
        ("timestamp_ntz", datetime(1970, 1, 1, tzinfo=UTC), "expected a datetime without a time zone"),
        ("decimal(3,1)", Decimal(100), r"value does not fit decimal\(3,1\): found 100; use a wider type"),
        ("decimal(3,1)", Decimal("NaN"), r"value does not fit decimal\(3,1\): found NaN"),
        ("decimal(3,1)", 0.5, r"expected a Decimal that fits decimal\(3,1\), found float 0.5"),
        (array("long"), {1}, r"expected a list, found set \{1\}"),
        (array("long"), "ab", "expected a list, found str 'ab'"),
        (array("long"), ["a"], "an element of value does not fit: expected an integer, found str 'a'"),
        (mapping("string", "long"), [1], "expected a dict, found list"),
        (mapping("string", "long"), {1: 1}, "a key of value does not fit: expected text, found int 1"),
        (mapping("string", "long"), {None: 1}, "value has the key None"),
        (struct(amount="long"), {"amuont": 1}, "value has no field 'amuont'; did you mean 'amount'?"),
        (struct(a="long"), {"b": 1}, "value has no field 'b'; leave it out, or add it to returns="),
        (struct(a=struct(b="long")), {"a": {"b": "x"}}, r"value\.a\.b does not fit: expected an integer"),
        (struct(a="long", b="long"), (1,), r"expected a dict or dataclass with a, b, found tuple \(1,\)"),
        (struct(item="string"), Sale("bell", 2), "value has no field 'price'; leave it out, or add it"),
        (struct(prise="long"), Sale("bell", 2), "value has no field 'item'"),
        (struct(a="long"), 5, "expected a dict or dataclass with a, found int 5"),
        ("void", 1, "expected None, found int 1"),
    ],
)
def test_what_a_type_cannot_hold_is_refused(kind: Any, returned: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        wire(code(kind), returned)


def test_a_long_value_is_shown_by_its_beginning() -> None:
    with pytest.raises(TypeError, match=r"found str 'x{76}\.\.\.;"):
        wire(code("long"), "x" * 1000)


def test_a_type_that_cannot_leave_is_refused_when_the_node_is_built() -> None:
    with pytest.raises(ValueError, match="value has a type that cannot leave Python code: interval"):
        wire(code("interval"), 1)


@pytest.mark.parametrize(
    ("kind", "text", "travels"),
    [
        ("string", "str_('a')", "a"),
        ("long", "int64(7)", 7),
        ("integer", "uint8(7)", 7),
        ("double", "float64(1.5)", 1.5),
        ("double", "float32(1.5)", 1.5),
        ("boolean", "bool_(True)", True),
        (array("double"), "array([1.0, 2.0])", [1.0, 2.0]),
    ],
)
def test_numbers_of_numpy_leave_as_those_of_python(kind: Any, text: str, travels: Any) -> None:
    found = wire(code(kind), eval(text, vars(numpy)))

    assert found == travels
    assert type(found) is type(travels)
