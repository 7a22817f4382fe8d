"""Checks windowed keys against Kafka's two binary forms and the readable one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brookmere.errors import TopologyError
from brookmere.record import WindowedKey
from brookmere.serde import BadBytes, Bool, Bytes, Custom, Double, Int, Json, Long, Serde, Text, Windowed

MINUTE = timedelta(minutes=1)
TIMES = st.integers(0, 2**62 - 1)


@dataclass(frozen=True)
class Price:
    symbol: str
    amount: Decimal


def test_a_time_window_is_written_as_key_and_start() -> None:
    serde = Windowed(Text(), size=MINUTE)

    data = serde.serialize(WindowedKey("a", 258, 60258))

    assert data == b"a" + b"\x00\x00\x00\x00\x00\x00\x01\x02"
    assert serde.deserialize(data) == WindowedKey("a", 258, 60258)


def test_a_session_window_is_written_as_key_end_and_start() -> None:
    serde = Windowed(Text(), session=True)

    data = serde.serialize(WindowedKey("a", 1, 2))

    assert data == b"a" + bytes(7) + b"\x02" + bytes(7) + b"\x01"
    assert serde.deserialize(data) == WindowedKey("a", 1, 2)


def test_a_time_window_of_unknown_size_never_ends() -> None:
    data = Windowed(Text(), size=MINUTE).serialize(WindowedKey("a", 0, 60000))

    assert Windowed(Text()).deserialize(data) == WindowedKey("a", 0, 2**63 - 1)


def test_a_window_at_the_end_of_time_is_cut_there() -> None:
    data = b"a" + (2**63 - 2).to_bytes(8, "big")

    assert Windowed(Text(), size=MINUTE).deserialize(data) == WindowedKey("a", 2**63 - 2, 2**63 - 1)


def test_a_windowed_key_can_have_a_window_of_its_own() -> None:
    serde = Windowed(Windowed(Text(), session=True), size=MINUTE)
    key = WindowedKey(WindowedKey("a", 5, 9), 0, 60000)

    data = serde.serialize(key)

    assert data == b"a" + (9).to_bytes(8, "big") + (5).to_bytes(8, "big") + bytes(8)
    assert serde.deserialize(data) == key


def test_an_empty_inner_key_is_a_key() -> None:
    assert Windowed(Text(), size=MINUTE).deserialize(bytes(8)) == WindowedKey("", 0, 60000)


@given(st.text(st.characters(exclude_categories=["Cs"])), TIMES)
def test_every_time_window_returns(key: str, start: int) -> None:
    serde = Windowed(Text(), size=MINUTE)
    windowed = WindowedKey(key, start, start + 60000)

    assert serde.deserialize(serde.serialize(windowed)) == windowed


@given(st.integers(-(2**63), 2**63 - 1), TIMES, TIMES, st.sampled_from(["binary", "json"]))
def test_every_session_window_returns(key: int, start: int, length: int, form: Any) -> None:
    serde = Windowed(Long(), session=True, form=form)
    windowed = WindowedKey(key, start, start + length)

    assert serde.deserialize(serde.serialize(windowed)) == windowed


def test_the_readable_form_is_a_json_object() -> None:
    serde = Windowed(Text(), size=MINUTE, form="json")

    data = serde.serialize(WindowedKey("é", 0, 60000))

    assert data == '{"key":"é","start":0,"end":60000}'.encode()


@pytest.mark.parametrize(
    ("inner", "key"),
    [
        (Text(), 'a "quoted" one'),
        (Int(), -7),
        (Long(), 2**63 - 1),
        (Double(), 0.1),
        (Double(), float("-inf")),
        (Bool(), True),
        (Json("symbol string"), {"symbol": "A", "of": [1.5, None]}),
        (Json(Price), Price("A", Decimal("12345678901234567890.123456789012345678"))),
    ],
)
def test_every_readable_key_returns_from_the_readable_form(inner: Serde, key: Any) -> None:
    serde = Windowed(inner, size=MINUTE, form="json")
    windowed = WindowedKey(key, 0, 60000)

    assert serde.deserialize(serde.serialize(windowed)) == windowed


@pytest.mark.parametrize(
    ("serde", "data", "reason"),
    [
        (Windowed(Text()), b"", "expected at least 8 bytes for a key with its time window, found 0"),
        (
            Windowed(Text(), session=True),
            bytes(15),
            "expected at least 16 bytes for a key with its session window, found 15",
        ),
        (Windowed(Long()), b"abc" + bytes(8), "expected 8 bytes for a Long, found 3"),
        (Windowed(Text()), b"a" + b"\xff" * 8, "a window cannot start before 1970: found start -1"),
        (
            Windowed(Text(), session=True),
            bytes(15) + b"\x01",
            "a window cannot end before it starts: found 1 to 0",
        ),
        (
            Windowed(Text(), form="json"),
            b'{"key":"a","start":0}',
            'expected a JSON object with the fields "key", "start" and "end"',
        ),
        (
            Windowed(Text(), form="json"),
            b'{"key":"a","start":0,"end":1.5}',
            'expected whole numbers as "start" and "end", found 0 and 1.5',
        ),
        (Windowed(Text(), form="json"), b'{"key":null,"start":0,"end":1}', 'expected a "key", found null'),
        (
            Windowed(Int(), form="json"),
            b'{"key":"a","start":0,"end":1}',
            "\"key\" does not fit: Int writes an int, found str 'a'; convert it with int(...)",
        ),
    ],
)
def test_bad_bytes_are_refused_with_their_reason(serde: Windowed, data: bytes, reason: str) -> None:
    with pytest.raises(BadBytes) as caught:
        serde.deserialize(data)

    assert str(caught.value) == reason


def test_null_is_null_both_ways() -> None:
    assert Windowed(Text()).serialize(None) is None
    assert Windowed(Text()).deserialize(None) is None


def test_a_window_of_another_size_is_not_written() -> None:
    with pytest.raises(ValueError, match="window 0 to 5 is not 60000 ms long"):
        Windowed(Text(), size=MINUTE).serialize(WindowedKey("a", 0, 5))


def test_a_window_without_a_key_is_not_written() -> None:
    with pytest.raises(ValueError, match="without a key"):
        Windowed(Text()).serialize(WindowedKey(None, 0, 5))


def test_a_plain_key_is_not_written() -> None:
    with pytest.raises(TypeError, match="Windowed writes a WindowedKey, found str 'a'"):
        Windowed(Text()).serialize("a")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"inner": "text"}, "found str"),
        ({"inner": Text}, "found Text"),
        ({"inner": Windowed(Text()), "form": "json"}, "A key of Windowed has no JSON form"),
        ({"inner": Bytes(), "form": "json"}, "A key of Bytes has no JSON form"),
        ({"inner": Custom(str, str), "form": "json"}, "A key of Custom has no JSON form"),
        ({"inner": Text(), "form": "xml"}, "Windowed has no form 'xml'"),
        ({"inner": Text(), "size": 5}, "size of Windowed: a duration needs a unit, found the number 5"),
        ({"inner": Text(), "size": timedelta(0)}, "positive number of whole milliseconds: found 0:00:00"),
        ({"inner": Text(), "size": timedelta(microseconds=1)}, "whole milliseconds"),
        ({"inner": Text(), "size": MINUTE, "session": True}, "Session windows have no fixed size"),
    ],
)
def test_what_has_no_meaning_is_refused_when_it_is_built(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(TopologyError) as caught:
        Windowed(**arguments)

    assert words in str(caught.value)


def test_windowed_serdes_of_one_meaning_are_equal() -> None:
    assert Windowed(Text(), size=MINUTE) == Windowed(Text(), size=timedelta(seconds=60))
    assert Windowed(Text(), size=MINUTE) != Windowed(Text())
    assert Windowed(Text(), size=MINUTE).size_ms == 60000


@pytest.mark.parametrize(("start", "end"), [(-1, 5), (5, 4)])
def test_a_window_that_cannot_be_is_refused(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="a window cannot"):
        WindowedKey("a", start, end)
