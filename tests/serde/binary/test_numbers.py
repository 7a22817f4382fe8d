"""Checks numbers and truth values against Kafka's bytes."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brookmere.serde import BadBytes, Bool, Bytes, Double, Int, Long, Serde, Text

ALL = [Int(), Long(), Double(), Bool(), Text(), Bytes()]


@pytest.mark.parametrize("serde", ALL, ids=lambda serde: serde.kind)
def test_null_is_null_both_ways(serde: Serde) -> None:
    assert serde.serialize(None) is None
    assert serde.deserialize(None) is None


@pytest.mark.parametrize("serde", ALL, ids=lambda serde: serde.kind)
def test_serdes_of_one_meaning_are_equal_and_of_two_are_not(serde: Serde) -> None:
    others = [other for other in ALL if other.kind != serde.kind]

    assert serde == type(serde)()
    assert hash(serde) == hash(type(serde)())
    assert serde not in others


def test_serdes_are_frozen() -> None:
    with pytest.raises((AttributeError, TypeError)):
        Text().kind = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("serde", "value", "data"),
    [
        (Int(), 7, b"\x00\x00\x00\x07"),
        (Int(), -1, b"\xff\xff\xff\xff"),
        (Long(), 258, b"\x00\x00\x00\x00\x00\x00\x01\x02"),
        (Long(), -(2**63), b"\x80\x00\x00\x00\x00\x00\x00\x00"),
        (Double(), 5.4, b"\x40\x15\x99\x99\x99\x99\x99\x9a"),
        (Bool(), True, b"\x01"),
        (Bool(), False, b"\x00"),
        (Text(), "hé", b"h\xc3\xa9"),
        (Text(), "", b""),
        (Bytes(), b"\x00\xff", b"\x00\xff"),
    ],
)
def test_values_have_the_bytes_that_kafka_clients_write(serde: Serde, value: Any, data: bytes) -> None:
    assert serde.serialize(value) == data
    assert serde.deserialize(data) == value


@given(st.integers(-(2**31), 2**31 - 1))
def test_every_int_returns(value: int) -> None:
    assert Int().deserialize(Int().serialize(value)) == value


@given(st.integers(-(2**63), 2**63 - 1))
def test_every_long_returns(value: int) -> None:
    assert Long().deserialize(Long().serialize(value)) == value


@given(st.floats())
def test_every_double_returns(value: float) -> None:
    returned = Double().deserialize(Double().serialize(value))

    assert returned == value or (math.isnan(returned) and math.isnan(value))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_text_returns(value: str) -> None:
    assert Text().deserialize(Text().serialize(value)) == value


@pytest.mark.parametrize(
    ("serde", "data", "reason"),
    [
        (Int(), b"abc", "expected 4 bytes for an Int, found 3"),
        (Long(), b"abc", "expected 8 bytes for a Long, found 3"),
        (Long(), b"", "expected 8 bytes for a Long, found 0"),
        (Double(), b"123456789", "expected 8 bytes for a Double, found 9"),
        (Bool(), b"", "expected 1 byte for a Bool, found 0"),
        (Bool(), b"\x02", "expected the byte 0 or 1 for a Bool, found 2"),
        (Text(), b"ab\xff", "expected UTF-8 text, found byte 0xff at position 2"),
        (Text(), b"\xc3", "expected UTF-8 text, found byte 0xc3 at position 0"),
        (Text(), b"\xed\xa0\x80", "expected UTF-8 text, found byte 0xed at position 0"),
    ],
)
def test_bad_bytes_are_refused_with_their_reason(serde: Serde, data: bytes, reason: str) -> None:
    with pytest.raises(BadBytes) as caught:
        serde.deserialize(data)

    assert str(caught.value) == reason


@pytest.mark.parametrize(
    ("serde", "value", "words"),
    [
        (Int(), "7", "Int writes an int, found str '7'; convert it with int"),
        (Int(), True, "found bool True"),
        (Long(), 7.0, "Long writes an int, found float 7.0"),
        (Double(), "x", "Double writes a float, found str 'x'; convert it with float"),
        (Double(), False, "found bool False"),
        (Bool(), 1, "Bool writes a bool, found int 1"),
        (Text(), b"x", "Text writes a str, found bytes b'x'"),
        (Bytes(), "x", "Bytes writes bytes, found str 'x'"),
    ],
)
def test_a_value_of_another_type_is_refused_with_a_remedy(serde: Serde, value: Any, words: str) -> None:
    with pytest.raises(TypeError) as caught:
        serde.serialize(value)

    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("serde", "value", "words"),
    [
        (Int(), 2**31, "2147483648 does not fit the 4 bytes of Int; use Long"),
        (Long(), -(2**63) - 1, "does not fit the 8 bytes of Long; use Json or Text"),
        (Double(), 10**400, "out of the range of a Double"),
        (Text(), "a\ud800", "half a surrogate pair at position 1"),
    ],
    ids=["int", "long", "double", "text"],
)
def test_a_value_out_of_range_is_refused(serde: Serde, value: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        serde.serialize(value)


def test_a_whole_number_is_a_double_too() -> None:
    assert Double().deserialize(Double().serialize(3)) == 3.0


def test_bytes_are_copied_from_every_buffer() -> None:
    assert Bytes().serialize(bytearray(b"ab")) == b"ab"
    assert Bytes().serialize(memoryview(b"ab")) == b"ab"
