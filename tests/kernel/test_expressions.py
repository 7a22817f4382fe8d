"""Whatever Spark computes row by row, the kernel computes the same, interpreted and compiled."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import pytest
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.run.query.taps import plain
from brookmere.testing import TopologyTestDriver
from tests.kernel.expressions import ALL, ROWS, SCHEMA

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Byte code for one expression takes Spark some tenths of a second, so a query runs every fifth.
COMPILED = list(ALL)[::5]


@pytest.fixture(scope="module")
def expected(spark: SparkSession) -> dict[str, list[Any]]:
    """What a plain select gives."""
    texts = {f"row{n}": None if row is None else json.dumps(row) for n, row in enumerate(ROWS)}
    marks = ", ".join(f"(:{name})" for name in texts)
    rows = spark.sql(f"SELECT text FROM VALUES {marks} AS t(text)", args=texts)
    frame = rows.select(F.from_json("text", SCHEMA, {"mode": "FAILFAST"}).alias("value"))
    results = frame.select(*[make(F.col("value")).alias(name) for name, make in ALL.items()]).collect()
    return {name: [plain(row[name]) for row in results] for name in ALL}


def kernel_results(names: list[str], engine: Literal["local", "spark"]) -> dict[str, list[Any]]:
    results: dict[str, list[Any]] = {name: [] for name in names}
    app = bm.StreamsBuilder("expressions", key=bm.Text(), value=bm.Json(SCHEMA))
    stream = app.stream("in")
    for name in names:
        stream.map_values(ALL[name], name=name).foreach(partial(_keep, results[name]))
    with TopologyTestDriver(app, engine=engine, on_error="continue") as driver:
        driver.pipe_records([("in", bm.Record("k", row, 0)) for row in ROWS])
        for error in driver.errors:
            results[str(error.node)].append(error)
    return results


def _keep(results: list[Any], key: str, value: Any) -> None:
    results.append(value)


@pytest.fixture(scope="module")
def interpreted(spark: SparkSession) -> dict[str, list[Any]]:
    return kernel_results(list(ALL), "local")


@pytest.fixture(scope="module")
def compiled(spark: SparkSession) -> dict[str, list[Any]]:
    return kernel_results(COMPILED, "spark")


@pytest.mark.parametrize("name", ALL)
def test_expression_gives_what_a_select_gives(
    name: str, interpreted: dict[str, list[Any]], expected: dict[str, list[Any]]
) -> None:
    # Texts, because they tell 0.0 from -0.0 and an int from a float.
    assert repr(interpreted[name]) == repr(expected[name])


@pytest.mark.parametrize("name", COMPILED)
def test_expression_gives_what_a_select_gives_in_a_query(
    name: str, compiled: dict[str, list[Any]], expected: dict[str, list[Any]]
) -> None:
    assert repr(compiled[name]) == repr(expected[name])
