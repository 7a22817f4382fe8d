"""Bytes become values and values become bytes in the kernel as the Python side of each serde does it."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, StructField, StructType

import brookmere as bm
from brookmere.testing import TopologyTestDriver

pytestmark = pytest.mark.usefixtures("spark")


@dataclass
class Line:
    item: str
    count: int
    note: str | None = None
    tags: list[str] | None = None


EVERYTHING = (
    "a bigint, i int, s string, d double, b boolean, m decimal(5,2), at timestamp, day date, "
    "xs array<int>, o struct<z: int>, tags map<string,int>, raw binary"
)
COMMAS = bm.Custom(
    decode=lambda raw: F.split(raw.cast("string"), ","),
    encode=lambda value: F.array_join(value, ",").cast("binary"),
    serialize=lambda value: ",".join(value).encode(),
    deserialize=lambda data: data.decode().split(","),
    name="commas",
)


def long(number: int) -> bytes:
    return number.to_bytes(8, "big", signed=True)


def through(
    serde: bm.Serde, datas: list[bytes | None], *, as_key: bool
) -> tuple[list[Any], list[bytes | None]]:
    """Read bytes and write them again; return the values in between, and the bytes at the end."""
    app = bm.StreamsBuilder("through", key=bm.Bytes(), value=bm.Bytes())
    values: list[Any] = []
    if as_key:
        app.stream("in", key=serde).peek(lambda key, _: values.append(key)).to("out")
    else:
        app.stream("in", value=serde).peek(lambda _, value: values.append(value)).to("out")
    with TopologyTestDriver(app) as driver:
        feed = driver.input_topic("in", key=bm.Bytes(), value=bm.Bytes())
        for data in datas:
            feed.pipe_input(data if as_key else None, None if as_key else data)
        written = driver.output_topic("out", key=bm.Bytes(), value=bm.Bytes()).read_records_to_list()
    return values, [record.key if as_key else record.value for record in written]


ROUND_TRIPS: dict[str, tuple[bm.Serde, list[Any]]] = {
    "text": (bm.Text(), ["", "a", "é€😀", "x" * 1000]),
    "bytes": (bm.Bytes(), [b"", b"\x00\xff", b"\x80" * 300]),
    "int": (bm.Int(), [0, -1, 2**31 - 1, -(2**31)]),
    "long": (bm.Long(), [0, -1, 2**63 - 1, -(2**63)]),
    "double": (bm.Double(), [0.0, -1.5, 1e300, float("inf")]),
    "bool": (bm.Bool(), [True, False]),
    "json": (
        bm.Json("s string, xs array<bigint>, o struct<z: double>, m map<string,int>"),
        [
            {"s": 'quote " and \\ and é', "xs": [1, None], "o": {"z": 0.5}, "m": {"k": 1}},
            {"s": None, "xs": [], "o": None, "m": {}},
        ],
    ),
    "json_of_a_struct_type": (
        bm.Json(StructType([StructField("id", LongType(), False), StructField("name", StringType())])),
        [{"id": 1, "name": None}],
    ),
    "json_array": (bm.Json("array<int>"), [[1, 2], []]),
    "custom": (COMMAS, [["a", "b"], [""]]),
}


@pytest.mark.parametrize("as_key", [False, True], ids=["value", "key"])
@pytest.mark.parametrize("kind", ROUND_TRIPS)
def test_kernel_reads_and_writes_the_bytes_of_the_python_side(kind: str, as_key: bool) -> None:
    serde, values = ROUND_TRIPS[kind]
    datas = [serde.serialize(value) for value in values]

    seen, written = through(serde, datas, as_key=as_key)

    assert seen == values
    assert written == datas


def test_not_a_number_stays_one() -> None:
    data = struct.pack(">d", float("nan"))

    seen, written = through(bm.Double(), [data], as_key=False)

    assert seen[0] != seen[0]
    assert written == [data]


@pytest.mark.parametrize("kind", ROUND_TRIPS)
def test_null_stays_null(kind: str) -> None:
    serde, _ = ROUND_TRIPS[kind]

    assert through(serde, [None], as_key=False) == ([None], [None])
    assert through(serde, [None], as_key=True) == ([None], [None])


def test_json_of_a_dataclass_is_a_struct_of_its_fields() -> None:
    serde = bm.Json(Line)
    data = serde.serialize(Line("tea", 2, tags=["x"]))

    seen, written = through(serde, [data], as_key=False)

    assert seen == [{"item": "tea", "count": 2, "note": None, "tags": ["x"]}]
    assert written == [data]
    assert serde.deserialize(written[0]) == Line("tea", 2, tags=["x"])


def test_json_reads_every_type_and_writes_it_again() -> None:
    document = {
        "a": 1,
        "i": 2,
        "s": "x",
        "d": 1.5,
        "b": True,
        "m": 1.25,
        "at": "2024-02-29T12:34:56.789Z",
        "day": "2024-02-29",
        "xs": [1, None],
        "o": {"z": None},
        "tags": {"k": None},
        "raw": "3q0=",
    }

    _, (written,) = through(bm.Json(EVERYTHING), [json.dumps(document).encode()], as_key=False)

    assert json.loads(written or b"") == document


def test_absent_field_is_null_and_unknown_field_is_left_out() -> None:
    seen, written = through(bm.Json("a bigint, b string"), [b'{"a":1,"c":3}', b"{}"], as_key=False)

    assert seen == [{"a": 1, "b": None}, {"a": None, "b": None}]
    assert written == [b'{"a":1,"b":null}', b'{"a":null,"b":null}']


@pytest.mark.parametrize(
    "schema", ["a bigint, b string", "a: bigint, b: string", "struct<a: bigint, b: string>"]
)
def test_forms_of_a_schema_mean_the_same(schema: str) -> None:
    seen, _ = through(bm.Json(schema), [b'{"a":1,"b":"x"}'], as_key=False)

    assert seen == [{"a": 1, "b": "x"}]


SIZED = bm.Windowed(bm.Text(), size=timedelta(seconds=5))
WINDOWS: dict[str, tuple[bm.Serde, bytes, dict[str, Any]]] = {
    "time": (SIZED, b"k" + long(1000), {"key": "k", "start": 1000, "end": 6000}),
    "time_without_size": (
        bm.Windowed(bm.Long()),
        long(7) + long(1000),
        {"key": 7, "start": 1000, "end": 2**63 - 1},
    ),
    "time_at_the_end_of_time": (
        SIZED,
        b"" + long(2**63 - 1),
        {"key": "", "start": 2**63 - 1, "end": 2**63 - 1},
    ),
    "session": (
        bm.Windowed(bm.Text(), session=True),
        b"k" + long(2000) + long(1000),
        {"key": "k", "start": 1000, "end": 2000},
    ),
    "of_json": (
        bm.Windowed(bm.Json("a int"), size=timedelta(seconds=1)),
        b'{"a":5}' + long(0),
        {"key": {"a": 5}, "start": 0, "end": 1000},
    ),
    "json_form": (
        bm.Windowed(bm.Text(), form="json"),
        b'{"key":"k","start":1,"end":2}',
        {"key": "k", "start": 1, "end": 2},
    ),
    "json_form_of_a_number": (
        bm.Windowed(bm.Int(), form="json", session=True),
        b'{"key":5,"start":1,"end":1}',
        {"key": 5, "start": 1, "end": 1},
    ),
    "json_form_of_a_dataclass": (
        bm.Windowed(bm.Json(Line), form="json"),
        b'{"key":{"item":"tea","count":1,"note":null,"tags":null},"start":1,"end":2}',
        {"key": {"item": "tea", "count": 1, "note": None, "tags": None}, "start": 1, "end": 2},
    ),
    "json_form_of_a_struct": (
        bm.Windowed(bm.Json("struct<a: int>"), form="json"),
        b'{"key":{"a":null},"start":1,"end":2}',
        {"key": {"a": None}, "start": 1, "end": 2},
    ),
}


@pytest.mark.parametrize("kind", WINDOWS)
def test_windowed_key_is_a_struct_and_has_the_bytes_of_the_python_side(kind: str) -> None:
    serde, data, value = WINDOWS[kind]

    seen, written = through(serde, [data], as_key=True)

    assert seen == [value]
    assert written == [data]
    assert serde.serialize(serde.deserialize(data)) == data
    assert serde.deserialize(data).start == value["start"]
    assert serde.deserialize(data).end == value["end"]
