"""Keys, values and rows become JSON, also those that JSON has no form for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from typing import Any

import pytest

import brookmere as bm
from brookmere.serde.json.any_json import json_of
from brookmere.state import Row
from brookmere.state.description.json_values import row_json


class Color(Enum):
    RED = 1


@dataclass
class Odd:
    what: object


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (17, b"17"),
        ("süß", '"süß"'.encode()),
        (None, b"null"),
        (float("inf"), b'"Infinity"'),
        (Decimal("1.50"), b"1.50"),
        (Decimal("1E+60"), b'"1E+60"'),
        (datetime(2024, 1, 1, tzinfo=UTC), b'"2024-01-01T00:00:00.000Z"'),
        ({"data": b"\x00"}, b'{"data":"AA=="}'),
        ({1: "one"}, b'{"1":"one"}'),
        ("\ud800", b'"\\\\ud800"'),
        (Odd(Color.RED), b'{"what":"RED"}'),
        ({3}, b"[3]"),
        (bm.WindowedKey("ada", 0, 5), b'{"key":"ada","start":0,"end":5}'),
    ],
)
def test_value_becomes_json(value: Any, written: bytes) -> None:
    assert json_of(value) == written


def test_row_of_a_version_tells_until_when() -> None:
    serdes = bm.Text(), bm.Long()

    assert row_json(Row("ada", 1, 5), *serdes, is_version=False) == b'{"key":"ada","value":1,"timestamp":5}'
    assert row_json(Row("ada", 1, 5, 9), *serdes, is_version=True) == (
        b'{"key":"ada","value":1,"timestamp":5,"until":9}'
    )
