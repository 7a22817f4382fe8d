"""Every registered serde has every fact: a serde that forgets one fails here by name."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

import brookmere as bm
from brookmere.errors import UnsupportedError
from brookmere.serde.json.spark_json import SparkJson
from brookmere.serde.kinds import all_kinds, describe_serde, imported, read_serde
from brookmere.serde.structures.spark_fields import NoSchema, form_of
from brookmere.state.description.key_text import key_from_text
from tests.serde.own_serdes import EUROS, Day, Money

PAIR = 'syntax = "proto3"; message Pair { int32 a = 1; }'
PAIR_SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
SAMPLES: dict[str, tuple[bm.Serde, Any]] = {
    "text": (bm.Text(), "tea"),
    "bytes": (bm.Bytes(), b"\x00\xff"),
    "int": (bm.Int(), -7),
    "long": (bm.Long(), 7),
    "double": (bm.Double(), 1.5),
    "bool": (bm.Bool(), True),
    "pickled": (bm.serdes.Pickled(), [1, 2]),
    "json": (bm.Json("a int"), {"a": 1}),
    "typed_json": (SparkJson('"date"', "value"), date(2024, 2, 29)),
    "json_schema": (bm.serdes.JsonSchema(PAIR_SCHEMA), {"a": 1}),
    "avro": (bm.serdes.Avro("a int"), {"a": 1}),
    "protobuf": (bm.serdes.Protobuf(PAIR), {"a": 1}),
    "windowed": (bm.Windowed(bm.Text(), timedelta(seconds=5)), bm.WindowedKey("tea", 0, 5000)),
    "custom": (
        bm.serdes.Custom(lambda raw: raw, lambda value: value, lambda text: text.encode(), bytes.decode),
        "tea",
    ),
    "tests.serde.own_serdes:Money": (Money(), Decimal("12.50")),
    "tests.serde.own_serdes:Day": (Day(), date(2024, 2, 29)),
}
# Its functions cannot leave the program, and only its Column knows its type.
OPEN = {"custom"}


def registered() -> list[str]:
    return sorted(kind for kind in all_kinds() if "<locals>" not in kind)


@pytest.fixture(params=registered())
def kind(request: pytest.FixtureRequest) -> str:
    assert request.param in SAMPLES, f"the serde {request.param} has no sample here; add one"
    return str(request.param)


def test_bytes_return_as_the_value(kind: str) -> None:
    serde, value = SAMPLES[kind]

    assert serde.kind == kind
    assert serde.deserialize(serde.serialize(value)) == value
    assert (serde.serialize(None), serde.deserialize(None)) == (None, None)


def test_spark_type_is_known(kind: str) -> None:
    serde, _ = SAMPLES[kind]

    if kind in OPEN:
        with pytest.raises(NoSchema):
            serde.spark_type()
    else:
        assert form_of(serde.spark_type())


def test_description_makes_an_equal_serde(kind: str) -> None:
    serde, value = SAMPLES[kind]

    if kind in OPEN:
        with pytest.raises(UnsupportedError, match="functions of the program"):
            describe_serde(serde)
    else:
        made = read_serde(json.loads(json.dumps(describe_serde(serde))))
        assert made.serialize(value) == serde.serialize(value)


def test_key_returns_from_its_text(kind: str) -> None:
    serde, key = SAMPLES[kind]

    assert key_from_text(serde, serde.key_to_text(key)) == key
    assert serde.key_text


def test_value_has_a_json_form_and_a_schema(kind: str) -> None:
    serde, value = SAMPLES[kind]

    assert serde.json_value(value) is not None
    assert isinstance(serde.json_schema(), dict)
    assert serde.key_json_schema()["type"]


@dataclass(frozen=True, slots=True)
class _Types:
    def of(self, serde: bm.Serde) -> Any:
        return form_of(serde.spark_type())


def test_type_that_does_not_fit_is_refused_with_a_remedy(kind: str) -> None:
    serde, _ = SAMPLES[kind]

    wrong = serde.misfit("interval day to second", _Types())

    if kind in OPEN:
        assert wrong is None
    else:
        assert wrong is not None
        what, remedy = wrong
        assert "interval day to second" in what
        assert remedy


def test_own_serde_is_described_by_its_import_path_and_parameters() -> None:
    described = describe_serde(EUROS)

    path = "tests.serde.own_serdes:Money"
    assert described == {"kind": path, "class": path, "parameters": {"digits": 0}}
    assert read_serde(described) == EUROS


def test_own_serde_inside_windows_is_described_too() -> None:
    serde = bm.Windowed(Day(), session=True)

    assert read_serde(describe_serde(serde)) == serde


def test_serde_that_cannot_be_imported_says_so() -> None:
    found = {"kind": "shop.serdes:Money", "class": "shop.serdes:Money", "parameters": {}}

    with pytest.raises(UnsupportedError, match=r"'shop.serdes:Money' cannot be imported.*PYTHONPATH"):
        read_serde(found)


def test_path_of_something_else_is_no_serde() -> None:
    with pytest.raises(UnsupportedError, match="is not a serde"):
        read_serde({"kind": "x", "class": "tests.serde.own_serdes:CENTS"})
    assert imported("tests.serde.own_serdes:CENTS") == Money()


def test_serde_inside_a_function_cannot_be_described() -> None:
    class Local(Day):
        __slots__ = ()

    with pytest.raises(UnsupportedError, match="which other processes cannot import"):
        describe_serde(Local())


def test_kind_of_another_serde_is_refused() -> None:
    with pytest.raises(TypeError, match=r"the kind 'text' of the serde .* belongs to"):
        type("Imposter", (Day,), {"kind": "text", "__slots__": ()})


def test_key_from_text_explains_what_is_expected() -> None:
    with pytest.raises(ValueError, match="expected a day such as 2024-02-29, found 'soon'"):
        key_from_text(Day(), "soon")
