"""Stores in memory, in RocksDB, and on the way from one to the other."""

from __future__ import annotations

from typing import Literal

import pytest

import brookmere as bm
from brookmere.testing import TopologyTestDriver

Engine = Literal["local", "spark"]


def _count() -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("counting", key=bm.Text(), value=bm.Text())
    app.stream("in").group_by_key().count(store="counts").to_stream().to("out")
    return app


def _feed(driver: TopologyTestDriver, keys: range, time: int) -> None:
    driver.pipe_records([("in", bm.Record(f"k{key}", "v", time)) for key in keys])


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_store_that_outgrows_memory_moves_to_rows_and_keeps_counting(engine: Engine) -> None:
    with TopologyTestDriver(_count(), engine=engine, log_bytes=1_000) as driver:
        _feed(driver, range(4), time=1)
        _feed(driver, range(12), time=2)

        driver.restart()
        _feed(driver, range(1), time=3)

        rows = {key: (count, time) for key, count, time in driver.store("counts").rows()}
        assert rows["k0"] == (3, 3)
        assert rows["k3"] == (2, 2)
        assert rows["k11"] == (1, 2)
        assert len(rows) == 12


@pytest.mark.parametrize("store_type", ["memory", "rocksdb", "auto"])
def test_deleted_row_is_gone_after_a_restart(store_type: Literal["memory", "rocksdb", "auto"]) -> None:
    app = bm.StreamsBuilder("table", key=bm.Text(), value=bm.Text())
    app.table("in", store="rows", store_type=store_type).to_stream().to("out")
    with TopologyTestDriver(app) as driver:
        rows = driver.input_topic("in")
        rows.pipe_key_values([("a", "1"), ("b", "2"), ("a", None)])

        driver.restart()

        assert driver.store("rows").all() == [("b", "2")]


def test_log_is_rewritten_and_read_back_after_many_batches() -> None:
    app = bm.StreamsBuilder("table", key=bm.Text(), value=bm.Text())
    app.table("in", store="rows", store_type="memory").to_stream().to("out")
    large = "x" * 50_000
    with TopologyTestDriver(app) as driver:
        rows = driver.input_topic("in")
        for batch in range(120):
            rows.pipe_input(f"k{batch % 3}", f"{batch}{large}")

        driver.restart()

        kept = {key: value.rstrip("x") for key, value in driver.store("rows").all()}
        assert kept == {"k0": "117", "k1": "118", "k2": "119"}
