"""Keys are read from text as their serdes have them, and what does not fit is explained."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

import brookmere as bm
from brookmere.serde.json.spark_json import SparkJson
from brookmere.state.description.key_text import key_from_text


@dataclass(frozen=True)
class Place:
    town: str
    number: int


STRUCT = (
    '{"type":"struct","fields":[{"name":"town","type":"string","nullable":true,"metadata":{}},'
    '{"name":"number","type":"long","nullable":true,"metadata":{}}]}'
)
MINUTE = bm.Windowed(bm.Text(), size=timedelta(minutes=1))


@pytest.mark.parametrize(
    ("serde", "text", "key"),
    [
        (bm.Text(), "17", "17"),
        (bm.Text(), "", ""),
        (bm.Int(), "-17", -17),
        (bm.Long(), "9223372036854775807", 2**63 - 1),
        (bm.Double(), "1.5e3", 1500.0),
        (bm.Bool(), "true", True),
        (bm.Bytes(), "0x00fF", b"\x00\xff"),
        (bm.Json("town string"), '{"town": "Ulm"}', {"town": "Ulm"}),
        (bm.Json(Place), '{"town": "Ulm", "number": 1}', Place("Ulm", 1)),
        (SparkJson(STRUCT), '{"town": "Ulm", "number": 1}', {"town": "Ulm", "number": 1}),
        (SparkJson('"date"', "value"), "2024-02-29", date(2024, 2, 29)),
        (SparkJson('"date"', "value"), '"2024-02-29"', date(2024, 2, 29)),
        (SparkJson('"decimal(9,2)"', "value"), "1.50", Decimal("1.50")),
        (MINUTE, '{"key": "ada", "start": 60000, "end": 120000}', bm.WindowedKey("ada", 60_000, 120_000)),
    ],
)
def test_key_is_read_as_its_serde_has_it(serde: bm.Serde, text: str, key: Any) -> None:
    assert key_from_text(serde, text) == key


@pytest.mark.parametrize(
    ("serde", "text", "words"),
    [
        (bm.Int(), "ada", "the key 'ada' does not fit: expected a 32-bit integer, found 'ada'"),
        (bm.Int(), "2147483648", "expected a 32-bit integer"),
        (bm.Long(), "1.0", "expected a 64-bit integer"),
        (bm.Double(), "one", "expected a number"),
        (bm.Bool(), "True", "expected true or false"),
        (bm.Bytes(), "ff", "expected 0x and hexadecimal digits"),
        (bm.Json("town string"), "Ulm", "expected JSON"),
        (bm.Json("town string"), "[1]", "expected JSON"),
        (SparkJson(STRUCT), "Ulm", "expected JSON"),
        (SparkJson('"date"', "value"), "null", "a row always has a key"),
        (MINUTE, "ada", 'expected JSON such as {"key": ..., "start": 0, "end": 5000}'),
        (MINUTE, '{"key": "ada", "start": 0, "end": 1}', "is not 60000 ms long"),
    ],
)
def test_text_that_is_no_key_is_explained(serde: bm.Serde, text: str, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        key_from_text(serde, text)


def test_prefix_is_text_or_bytes() -> None:
    assert bm.Text().prefix_from_text("0x00") == "0x00"
    assert bm.Int().prefix_from_text("0x00ff") == b"\x00\xff"
    with pytest.raises(ValueError, match="0x and hexadecimal digits, found 'ada'"):
        bm.Int().prefix_from_text("ada")
