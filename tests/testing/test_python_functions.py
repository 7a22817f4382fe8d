"""Python functions of all kinds, in the worker of the test and in workers of Spark."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.testing import TopologyTestDriver

EVERY_TYPE = (
    "t string, b boolean, i1 tinyint, i2 smallint, i4 int, i8 bigint, f float, d double, raw binary, "
    "day date, at timestamp, local timestamp_ntz, money decimal(12,3), list array<date>, "
    "map map<string, timestamp>, deep struct<day: date, more: array<struct<at: timestamp>>>"
)
EVERY_VALUE = {
    "t": "ü",
    "b": True,
    "i1": -128,
    "i2": 2**15 - 1,
    "i4": -(2**31),
    "i8": 2**63 - 1,
    "f": 1.5,
    "d": -0.1,
    "raw": b"\x00\xff",
    "day": date(1969, 12, 31),
    "at": datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    "local": datetime(2024, 2, 29, 12, 30),
    "money": Decimal("-12.345"),
    "list": [date(2024, 2, 29), None],
    "map": {"a": datetime(2024, 2, 29, tzinfo=UTC), "b": None},
    "deep": {"day": None, "more": [{"at": datetime(2024, 2, 29, 1, tzinfo=UTC)}, None]},
}


def program(**serdes: Any) -> bm.StreamsBuilder:
    return bm.StreamsBuilder("functions", **{"key": bm.Text(), "value": bm.Text(), **serdes})


def outputs(app: bm.StreamsBuilder, *values: Any, **options: Any) -> list[Any]:
    with TopologyTestDriver(app, **options) as driver:
        driver.input_topic("in").pipe_key_values([("k", value) for value in values])
        return driver.output_topic("out").read_values_to_list()


def test_value_of_every_type_makes_the_round_trip(spark: SparkSession) -> None:
    seen: list[Any] = []

    def make(value: str) -> dict[str, Any]:
        return EVERY_VALUE if value == "all" else dict.fromkeys(EVERY_VALUE)

    def look(value: dict[str, Any]) -> dict[str, Any]:
        seen.append(value)
        return value

    app = program()
    made = app.stream("in").map_values(bm.python(make, returns=EVERY_TYPE))
    # A kernel node is between the two, so the values leave the worker.
    passed = made.filter(lambda value: F.lit(True)).map_values(bm.python(look, returns=EVERY_TYPE))
    passed.map_values(bm.python(lambda value: repr(value), returns=str)).to("out")

    found = outputs(app, "all", "none")

    assert seen == [EVERY_VALUE, dict.fromkeys(EVERY_VALUE)]
    assert found == [repr(EVERY_VALUE), repr(dict.fromkeys(EVERY_VALUE))]


def test_arrow_has_every_type_too(spark: SparkSession) -> None:
    app = program()
    made = app.stream("in").map_values(bm.python(lambda value: EVERY_VALUE, returns=EVERY_TYPE))
    same = made.map_values(bm.python(lambda batch: batch["value"], returns=EVERY_TYPE, batch="arrow"))
    same.map_values(bm.python(lambda value: repr(value), returns=str)).to("out")

    assert outputs(app, "x") == [repr(EVERY_VALUE)]


@dataclass
class Line:
    item: str
    price: Decimal
    day: date | None = None


@dataclass
class Order:
    id: int
    lines: list[Line]
    best: Line | None = None


def best(order: Order) -> Order:
    assert isinstance(order.lines[0], Line)
    return Order(order.id, order.lines, max(order.lines, key=lambda line: line.price))


def best_item(key: str, order: Order) -> tuple[str, Line | None]:
    assert isinstance(order.best, Line)
    return order.best.item, order.best


def test_functions_pass_dataclasses_to_each_other(spark: SparkSession) -> None:
    app = program(value=bm.Json(Order))
    items = app.stream("in").map_values(bm.python(best)).filter(lambda order: order.id > 0)
    items.map(bm.python(best_item, returns=(str, Line))).to("out", value=bm.Json(Line))

    with TopologyTestDriver(app) as driver:
        order = Order(1, [Line("tea", Decimal("2.5")), Line("rum", Decimal(9), date(2024, 1, 1))])
        driver.input_topic("in").pipe_input("k", order)

        assert driver.output_topic("out").read_key_value() == (
            "rum",
            Line("rum", Decimal(9), date(2024, 1, 1)),
        )


def test_functions_see_windowed_keys(spark: SparkSession) -> None:
    app = program()
    counts = app.stream("in").group_by_key().windowed_by(bm.TimeWindows(timedelta(seconds=1))).count()
    shown = counts.to_stream().map(
        bm.python(lambda key, count: (key.key, f"{key.start}-{key.end}: {count}"), returns=(str, str))
    )
    shown.to("out")

    assert outputs(app, "x") == ["0-1000: 1"]


class Model:
    def open(self) -> None:
        self.word = "!"

    def __call__(self, value: str) -> str:
        return value + self.word


class Client:
    async def open(self) -> None:
        self.gate = asyncio.Semaphore(2)

    async def __call__(self, value: str) -> str:
        async with self.gate:
            await asyncio.sleep(0)
            return value.upper()


def words(value: str) -> Iterator[str]:
    yield from value.split()


async def letters(value: str) -> AsyncIterator[str]:
    for letter in value:
        yield letter


def length(batch: pa.RecordBatch) -> pa.Array:
    return pc.utf8_length(batch["value"])


def every_kind() -> bm.StreamsBuilder:
    app = program()
    single = app.stream("in").flat_map_values(bm.python(words, returns=str))
    opened = single.map_values(bm.python(Model)).map_values(bm.python_async(Client, returns=str))
    low, high = (
        opened.split()
        .branch(bm.python(lambda value: value < "C"), name="low")
        .branch(bm.python(lambda value: True), name="high")
        .no_default_branch()
        .values()
    )
    sized = high.map_values(bm.python(length, returns="int", batch="arrow"))
    output = sized.map_values(bm.python(str, returns=str)).merge(
        low.flat_map_values(bm.python_async(letters, returns=str))
    )
    output.to("out")
    return app


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_functions_of_every_kind_follow_each_other(spark: SparkSession, engine: Any) -> None:
    found = outputs(every_kind(), "a cdef", "b", engine=engine)

    assert found == ["A", "!", "5", "B", "!"]
