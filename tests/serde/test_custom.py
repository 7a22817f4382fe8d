"""Checks the serde that a user makes of functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from brookmere.errors import TopologyError
from brookmere.serde import BadBytes, Custom


def upper(name: str = "upper") -> Custom:
    return Custom(
        decode=lambda column: column.cast("string"),
        encode=lambda column: column.cast("binary"),
        serialize=lambda value: value.upper().encode(),
        deserialize=lambda data: data.decode().lower(),
        name=name,
    )


def never(column: Any) -> Any:
    raise AssertionError("only a running query may call this")


def test_python_values_go_through_the_users_functions() -> None:
    serde = upper()

    assert serde.serialize("abc") == b"ABC"
    assert serde.deserialize(b"ABC") == "abc"


def test_null_is_null_without_asking_the_users_functions() -> None:
    serde = Custom(never, never, never, never)

    assert serde.serialize(None) is None
    assert serde.deserialize(None) is None


def test_a_failing_reader_is_a_reason() -> None:
    with pytest.raises(BadBytes, match="the serde 'upper' failed with UnicodeDecodeError"):
        upper().deserialize(b"\xff")


def test_a_writer_that_gives_no_bytes_is_refused() -> None:
    serde = Custom(never, never, serialize=lambda value: value)

    with pytest.raises(TypeError, match="writes bytes, found int 7; return bytes"):
        serde.serialize(7)


def test_a_serde_without_a_python_side_says_what_to_give() -> None:
    serde = Custom(never, never, name="sealed")

    with pytest.raises(
        TopologyError, match=r"'sealed' has no serialize for Python values\. Give Custom serialize=\."
    ):
        serde.serialize("a")
    with pytest.raises(TopologyError, match="'sealed' has no deserialize"):
        serde.deserialize(b"a")


def test_the_same_code_gives_equal_serdes() -> None:
    assert upper() == upper()
    assert hash(upper()) == hash(upper())
    assert upper() != upper(name="other")
    assert upper() != Custom(never, never, name="upper")


def test_methods_of_two_objects_are_two_functions() -> None:
    @dataclass(frozen=True)
    class Cast:
        to: str

        def apply(self, column: Any) -> Any:
            return column.cast(self.to)

    assert Custom(Cast("int").apply, never) != Custom(Cast("long").apply, never)


def test_everything_that_is_no_function_is_reported_at_once() -> None:
    with pytest.raises(TopologyError) as caught:
        Custom(decode="x", encode=never, serialize=3)  # type: ignore[arg-type]

    assert [fault.what for fault in caught.value.faults] == [
        "decode of the serde 'custom' is not a function: found str",
        "serialize of the serde 'custom' is not a function: found int",
    ]
