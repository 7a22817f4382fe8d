"""A test's view of the stores, of every kind and on both engines."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Literal

import pytest
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.testing import TopologyTestDriver

pytestmark = pytest.mark.usefixtures("spark")


@dataclass(frozen=True)
class Place:
    street: str
    number: int


@pytest.mark.parametrize("engine", ["local", "spark"])
@pytest.mark.parametrize("store_type", ["memory", "rocksdb"])
def test_rows_are_read_with_key_value_and_time(engine: Literal["local", "spark"], store_type: Any) -> None:
    app = bm.StreamsBuilder("stores", key=bm.Int(), value=bm.Text())
    app.table("in", store="rows")

    with TopologyTestDriver(app, engine=engine, store_type=store_type, partitions=2) as driver:
        records = [(1, "a", 10), (2, "b", 20), (1, "c", 5), (3, "d", 30), (3, None, 40)]
        driver.pipe_records([("in", bm.Record(key, value, time)) for key, value, time in records])
        store = driver.store("rows")

        assert sorted(store.rows()) == [(1, "c", 5), (2, "b", 20)]
        assert sorted(store.all()) == [(1, "c"), (2, "b")]
        assert store.get(1) == "c"
        assert store.get(3) is None
        assert store.get_with_timestamp(2) == ("b", 20)
        assert store.get_with_timestamp(9) is None
        assert len(store) == 2
        driver.input_topic("in").pipe_input(9, "z", timestamp=1)
        assert store.get(9) == "z"


@pytest.mark.parametrize("engine", ["local", "spark"])
@pytest.mark.parametrize("store_type", ["memory", "rocksdb"])
def test_values_of_every_type_come_back_as_python_values(
    engine: Literal["local", "spark"], store_type: Any
) -> None:
    app = bm.StreamsBuilder("stores", key=bm.Text(), value=bm.Text())
    table = app.table("in")
    table.map_values(lambda v: v.cast("date"), store="day")
    table.map_values(lambda v: F.array(v.cast("date")), store="days")
    table.map_values(
        lambda v: F.struct(v.cast("date").alias("day"), F.lit(b"x").alias("raw")), store="struct"
    )
    table.map_values(lambda v: F.create_map(v, v.cast("date")), store="map")
    table.map_values(lambda v: v.cast("timestamp"), store="moment")
    table.map_values(lambda v: F.lit(1.5).cast("decimal(5,2)"), store="decimal")

    with TopologyTestDriver(app, engine=engine, store_type=store_type) as driver:
        driver.input_topic("in").pipe_input("k", "2024-02-29")

        names = ("day", "days", "struct", "map", "moment", "decimal")
        found = {name: driver.store(name).get("k") for name in names}
    leap = date(2024, 2, 29)
    assert found == {
        "day": leap,
        "days": [leap],
        "struct": {"day": leap, "raw": b"x"},
        "map": {"2024-02-29": leap},
        "moment": datetime(2024, 2, 29),
        "decimal": Decimal("1.50"),
    }


def test_structured_keys_are_found_by_dict_and_by_dataclass() -> None:
    app = bm.StreamsBuilder("stores", key=bm.Json(Place), value=bm.Text())
    app.table("in", store="rows")

    with TopologyTestDriver(app) as driver:
        driver.input_topic("in").pipe_input(Place("Brook", 7), "v")

        assert driver.store("rows").all() == [({"street": "Brook", "number": 7}, "v")]
        assert driver.store("rows").get({"street": "Brook", "number": 7}) == "v"
        assert driver.store("rows").get(Place("Brook", 7)) == "v"


def test_windowed_keys_are_found_by_windowed_key() -> None:
    app = bm.StreamsBuilder("stores", value=bm.Text())
    app.table("in", key=bm.Windowed(bm.Text(), size=timedelta(seconds=1)), store="rows")

    with TopologyTestDriver(app) as driver:
        driver.input_topic("in").pipe_input(bm.WindowedKey("k", 0, 1000), "v")

        assert driver.store("rows").get(bm.WindowedKey("k", 0, 1000)) == "v"
        assert driver.store("rows").get(bm.WindowedKey("k", 1000, 2000)) is None


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_global_table_shows_each_row_once_though_every_task_has_it(engine: Literal["local", "spark"]) -> None:
    app = bm.StreamsBuilder("stores", key=bm.Text(), value=bm.Text())
    app.global_table("countries", store="by-code")
    app.stream("in").group_by_key().count()

    with TopologyTestDriver(app, partitions=3, engine=engine) as driver:
        driver.pipe_records([("countries", bm.Record(code, code.upper(), 0)) for code in ("at", "ch", "de")])

        assert sorted(driver.store("by-code").all()) == [("at", "AT"), ("ch", "CH"), ("de", "DE")]


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_each_store_can_have_its_own_type(engine: Literal["local", "spark"]) -> None:
    app = bm.StreamsBuilder("stores", key=bm.Text(), value=bm.Text())
    grouped = app.stream("in").group_by_key()
    grouped.count(store="in-memory", store_type="memory")
    grouped.count(store="on-disk", store_type="rocksdb")

    with TopologyTestDriver(app, engine=engine) as driver:
        driver.pipe_records([("in", bm.Record("k", "v", 0))] * 3)

        assert driver.store("in-memory").get("k") == 3
        assert driver.store("on-disk").get("k") == 3


@pytest.mark.parametrize("engine", ["local", "spark"])
@pytest.mark.parametrize("store_type", ["memory", "rocksdb"])
def test_types_that_spark_cannot_describe_in_its_state_are_kept(
    engine: Literal["local", "spark"], store_type: Any
) -> None:
    app = bm.StreamsBuilder("stores", key=bm.Text(), value=bm.Text())
    table = app.table("in")
    kinds: dict[str, Any] = {
        "map": lambda v: F.to_json(v.value),
        "variant": lambda v: F.to_json(v.value),
        "interval": lambda v: v.value.cast("string"),
        "collated": lambda v: v.value.cast("string"),
    }
    values: dict[str, Any] = {
        "map": lambda v: F.create_map(F.length(v), v),
        "variant": lambda v: F.parse_json(F.lit('{"q":[1]}')),
        "interval": lambda v: F.make_dt_interval(F.lit(1)),
        "collated": lambda v: F.collate(v, "UTF8_LCASE"),
    }
    for name, show in kinds.items():
        kept = table.map_values(lambda v, make=values[name]: F.struct(make(v).alias("value")), store=name)
        kept.to_stream().map_values(show).to(name)

    with TopologyTestDriver(app, engine=engine, store_type=store_type) as driver:
        driver.input_topic("in").pipe_input("k", "v")
        driver.restart()
        driver.input_topic("in").pipe_input("k", "w")

        found = {name: driver.output_topic(name).read_values_to_list()[-1] for name in kinds}
    assert found == {
        "map": '{"1":"w"}',
        "variant": '{"q":[1]}',
        "interval": "INTERVAL '1 00:00:00' DAY TO SECOND",
        "collated": "w",
    }
