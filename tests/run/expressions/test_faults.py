"""What cannot run record by record is refused before the start, at the user's line, with a remedy."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import Column, Window
from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType, StringType
from pyspark.sql.udf import UserDefinedFunction
from pyspark.util import PythonEvalType

import brookmere as bm
from brookmere.testing import TopologyTestDriver
from tests.run.programs import fault_of, faults_of, sales

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("spark")


def doubled(amount: Column, kind: int = PythonEvalType.SQL_BATCHED_UDF) -> Column:
    return UserDefinedFunction(lambda x: 2 * x, DoubleType(), evalType=kind)(amount)


def over(column: Column, v: Column) -> Column:
    return column.over(Window.partitionBy(v.item).orderBy(v.amount))


NOT_ROW_WISE: dict[str, tuple[Callable[[Column], Column], str, str]] = {
    "python_udf": (lambda v: doubled(v.amount), "calls the Python function", "pyspark.sql.functions"),
    "pandas_udf": (
        lambda v: doubled(v.amount, PythonEvalType.SQL_SCALAR_PANDAS_UDF),
        "calls the Python function",
        "Write it",
    ),
    "arrow_udf": (
        lambda v: doubled(v.amount, PythonEvalType.SQL_SCALAR_ARROW_UDF),
        "calls the Python function",
        "Write it",
    ),
    "nested_python_udf": (lambda v: F.struct(doubled(v.amount) + 1), "calls the Python function", "Write it"),
    "sum": (lambda v: F.sum(v.amount), "aggregate function sum", "group_by_key().agg"),
    "count_in_an_expression": (lambda v: F.count(v.n) + 1, "aggregate function count", "group_by_key"),
    "row_number": (lambda v: over(F.row_number(), v), "window function row_number", "Group the stream"),
    "lag": (lambda v: over(F.lag(v.amount), v), "window function lag", "Group the stream"),
    "window_function_alone": (lambda v: F.row_number(), "row_number()", "Group the stream"),
    "time_window": (lambda v: F.window(v.at, "5 minutes"), "not a row-wise expression", "row-wise"),
    "explode": (lambda v: F.explode(v.tags), "generator explode", "flat_map_values"),
    "explode_in_an_expression": (lambda v: F.upper(F.explode(v.tags)), "generator", "flat_map_values"),
    "posexplode": (lambda v: F.posexplode(v.tags), "cannot be compiled", "flat_map_values"),
    "rand": (lambda v: F.rand(), "uses rand", "F.hash or F.sha2"),
    "seeded_rand": (lambda v: v.amount * F.rand(7), "uses rand", "F.hash or F.sha2"),
    "uuid": (lambda v: F.uuid(), "uses uuid", "F.hash or F.sha2"),
    "shuffle": (lambda v: F.shuffle(v.tags), "uses shuffle", "Derive the value from the record"),
    "monotonically_increasing_id": (
        lambda v: F.monotonically_increasing_id(),
        "monotonically_increasing_id",
        "Derive",
    ),
    "partition_id": (
        lambda v: F.spark_partition_id(),
        "whose result would change when a batch is repeated",
        "Derive",
    ),
    "input_file_name": (lambda v: F.input_file_name(), "input_file_name", "Derive"),
    "current_timestamp": (lambda v: F.current_timestamp(), "the current time", "(key, value, timestamp)"),
    "now": (lambda v: F.now(), "the current time with now", "(key, value, timestamp)"),
    "current_date": (lambda v: F.datediff(F.current_date(), v.at), "the current time", "timestamp"),
    "localtimestamp": (lambda v: F.localtimestamp(), "the current time", "timestamp"),
    "unix_timestamp_of_now": (lambda v: F.unix_timestamp(), "the current time", "timestamp"),
    "word_for_now": (lambda v: F.lit(" Now ").cast("timestamp"), "the current time", "timestamp"),
    "subquery": (lambda v: F.expr("(SELECT 1)"), "contains a subquery", "Join with a table"),
}


@pytest.mark.parametrize("case", NOT_ROW_WISE)
def test_what_is_not_row_wise_is_refused(case: str) -> None:
    function, what, remedy = NOT_ROW_WISE[case]

    fault = fault_of(lambda stream: stream.map_values(function))

    assert fault.what.startswith("The function of map_values")
    assert what in fault.what
    assert remedy in fault.remedy
    assert fault.where == f"{__file__}:{function.__code__.co_firstlineno}"


UNKNOWN: dict[str, tuple[Callable[..., Any], str, str]] = {
    "attribute": (lambda v: v.amout, "'amout'", "Did you mean 'amount'?"),
    "item": (lambda v: v["itme"], "'itme'", "Did you mean 'item'?"),
    "nothing_alike": (lambda v: v.zzz, "'zzz'", "Known fields: amount, item, n, tags, at, price"),
    "column_by_name": (lambda v: F.col("amount"), "'amount'", "Known fields: key, value, timestamp"),
    "path": (lambda v: F.col("value.itm"), "'itm'", "Did you mean 'item'?"),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_unknown_field_is_refused_with_the_nearest_known_one(case: str) -> None:
    function, name, remedy = UNKNOWN[case]

    fault = fault_of(lambda stream: stream.map_values(function))

    assert f"uses the field {name}, which does not exist" in fault.what
    assert fault.remedy == remedy


def test_field_of_a_key_without_fields_is_refused() -> None:
    fault = fault_of(lambda stream: stream.map_values(lambda key, value: key.id))

    assert 'Can\'t extract a value from "key"' in fault.what
    assert "SQLSTATE" not in fault.what


WRONG_TYPES: dict[str, tuple[Callable[[bm.KStream], object], str]] = {
    "filter_by_a_number": (lambda s: s.filter(lambda v: v.amount), "returns DOUBLE, but a condition must be"),
    "filter_not_by_a_text": (lambda s: s.filter_not(lambda v: v.item), "returns STRING, but a condition"),
    "branch_by_a_number": (
        lambda s: s.split().branch(lambda v: v.n).no_default_branch(),
        "returns INT, but a condition",
    ),
    "flat_map_values_without_array": (
        lambda s: s.flat_map_values(lambda v: v.n),
        "returns INT, but must return an array",
    ),
    "flat_map_without_pairs": (
        lambda s: s.flat_map(lambda v: v.tags),
        "returns ARRAY<STRING>, but must return an array of",
    ),
    "operands": (lambda s: s.map_values(lambda v: v.tags + 1), "cannot be compiled"),
    "branches_of_a_condition": (
        lambda s: s.map_values(lambda v: F.when(v.n > 1, v.tags).otherwise(v.amount)),
        "cannot be compiled",
    ),
    "merged_values": (
        lambda s: s.map_values(lambda v: v.n).merge(s.map_values(lambda v: v.item)),
        "combines values of the types INT and STRING",
    ),
    "merged_keys": (
        lambda s: s.select_key(lambda v: v.n).merge(s),
        "combines keys of the types INT and STRING",
    ),
    "collated_key": (
        lambda s: s.group_by(lambda v: F.collate(v.item, "UTF8_LCASE")).count(),
        "a store looks up keys by their bytes",
    ),
    "column_of_another_frame": (
        lambda s: s.map_values(lambda v: F.col("other")),
        "'other', which does not exist",
    ),
}


@pytest.mark.parametrize("case", WRONG_TYPES)
def test_wrong_type_is_refused(case: str) -> None:
    build, what = WRONG_TYPES[case]

    fault = fault_of(build)

    assert what in fault.what
    assert __file__ in (fault.where or "")


def test_python_function_is_called_by_its_name() -> None:
    def shout(text: str) -> str:
        return text.upper()

    udf = UserDefinedFunction(shout, StringType(), evalType=PythonEvalType.SQL_BATCHED_UDF)

    assert (
        "the Python function shout" in fault_of(lambda stream: stream.map_values(lambda v: udf(v.item))).what
    )


def test_aggregate_over_a_window_is_called_by_its_name() -> None:
    fault = fault_of(lambda stream: stream.map_values(lambda v: F.sum(v.n).over(Window.partitionBy(v.item))))

    assert "the window function sum" in fault.what


def test_explode_is_the_array_where_an_array_is_expected() -> None:
    app, stream = sales()
    stream.flat_map_values(lambda v: F.explode(v.tags)).to("tags")

    with TopologyTestDriver(app) as driver:
        driver.input_topic("sales").pipe_input("k", {"tags": ["a", "b"]})

        assert driver.output_topic("tags").read_values_to_list() == ["a", "b"]


def test_all_bad_lambdas_are_reported_together() -> None:
    def build(stream: bm.KStream) -> None:
        stream.filter(lambda v: v.amout > 1).to("a")
        stream.map_values(lambda v: F.rand()).to("b")
        stream.split().branch(lambda v: v.n).branch(lambda v: v.itm == "x").no_default_branch()
        stream.group_by_key().agg(x=bm.sum("item"), y=bm.min("prize")).to_stream().to("c")

    faults = faults_of(build)

    assert [fault.what.partition(" (")[0] for fault in faults[:4]] == [
        "The predicate of filter",
        "The function of map_values",
        "The predicate of branch",
        "The predicate of branch",
    ]
    assert ["'amout'" in faults[0].what, "rand" in faults[1].what, "INT" in faults[2].what] == [True] * 3
    assert "needs a number, found string" in faults[4].what
    assert faults[5].remedy == "Did you mean 'price'?"


def test_fault_is_reported_once_even_if_nodes_follow_it() -> None:
    fault = fault_of(lambda s: s.filter(lambda v: v.amout > 1).map_values(lambda v: v.nothing).to("out"))

    assert "'amout'" in fault.what


def test_fault_is_reported_once_even_if_joins_read_what_follows_it() -> None:
    app = bm.StreamsBuilder("shop", key=bm.Text(), value=bm.Text())
    stream, table = app.stream("stream"), app.table("table").map_values(lambda v: v.wrong)
    wrong = app.stream("wrong").map_values(lambda v: v.wrong)
    stream.left_join(wrong, lambda a, b: b, windows=bm.JoinWindows(timedelta(seconds=1))).to("a")
    stream.join(table, lambda a, b: b).to("b")
    app.table("other").outer_join(table, lambda a, b: b).to_stream().to("c")
    app.table("left").join(table, lambda a, b: b, foreign_key=lambda v: v).to_stream().to("d")
    table.join(app.table("right"), lambda a, b: b, foreign_key=lambda v: v).to_stream().to("e")

    with pytest.raises(bm.errors.ExpressionError) as caught:
        TopologyTestDriver(app)

    assert ["The function of map_values" in fault.what for fault in caught.value.faults] == [True, True]


def test_lines_of_branches_are_distinguished() -> None:
    first = inspect.currentframe().f_lineno  # type: ignore[union-attr]
    fault = fault_of(
        lambda s: (
            s.split()
            .branch(lambda v: v.n > 1)
            .branch(lambda v: v.m > 1)
            .default_branch()
        )
    )  # fmt: skip

    assert fault.where == f"{__file__}:{first + 5}"


def test_subtractor_is_blamed_for_what_the_subtractor_does() -> None:
    app = bm.StreamsBuilder("shop", key=bm.Text(), value=bm.Long())
    grouped = app.table("in").group_by(lambda key, value: (key, value))
    grouped.aggregate(0, lambda value, agg: agg + value, lambda value, agg: agg - value.cost)

    with pytest.raises(bm.errors.ExpressionError) as caught:
        TopologyTestDriver(app)

    assert caught.value.faults[0].what.startswith("The subtractor of aggregate")


def test_refusal_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    def build(stream: bm.KStream) -> None:
        stream.map_values(lambda v: v.amout).to("a")
        stream.map_values(lambda v: v.tags + 1).to("b")
        stream.map_values(lambda v: F.expr("value.n + missing")).to("c")
        stream.filter(lambda v: v.n and v.amount).to("d")
        stream.map_values(lambda v: F.sum(v.n)).to("e")

    capfd.readouterr()

    assert len(faults_of(build)) == 5
    assert capfd.readouterr() == ("", "")


def test_own_query_of_the_user_fails_as_ever_after_a_refusal(spark: SparkSession) -> None:
    fault_of(lambda stream: stream.map_values(lambda v: v.amout))

    with pytest.raises(AnalysisException):
        spark.sql("SELECT nothing FROM VALUES (1) AS t(x)")
    with pytest.raises(AnalysisException):
        spark.range(1).select(F.col("nothing"))
