from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pandas
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from brookmere.worker.functions.stream_functions import (
    FilterWork,
    FlatMapValuesWork,
    MapValuesWork,
    MapWork,
    SelectKeyWork,
    UserFunction,
)
from tests.worker.alone import LONG, Alone
from tests.worker.jvm import WorkerFailedError
from tests.worker.types.test_python_values import array, code, mapping, struct


def function(call: Callable[..., Any], batch: Any = "arrow", is_factory: bool = False) -> UserFunction:
    return UserFunction(call, "mapper of map_values", "app.py:3", is_factory, batch)


def test_a_chunk_is_one_batch_of_key_value_and_timestamp() -> None:
    seen: list[pa.RecordBatch] = []

    def upper(batch: pa.RecordBatch) -> pa.Array:
        seen.append(batch)
        return pc.utf8_upper(batch["value"])

    node = Alone(MapValuesWork(function(upper)))

    assert node.receive(("k", "a"), ("l", None), (None, "c")) == [("k", "A"), ("l", None), (None, "C")]
    [batch] = seen
    assert batch.schema.names == ["key", "value", "timestamp"]
    assert batch["key"].to_pylist() == ["k", "l", None]
    assert batch["timestamp"].to_pylist() == [datetime(1970, 1, 1, microsecond=5000, tzinfo=UTC)] * 3


@pytest.mark.parametrize(
    ("kind", "travels", "seen"),
    [
        ("long", 5, 5),
        ("double", 1.5, 1.5),
        ("boolean", True, True),
        ("binary", b"a", b"a"),
        ("date", 1, date(1970, 1, 2)),
        ("timestamp", 1, datetime(1970, 1, 1, microsecond=1, tzinfo=UTC)),
        ("timestamp_ntz", 1, datetime(1970, 1, 1, microsecond=1)),
        ("decimal(10,2)", "1.25", Decimal("1.25")),
        (array("decimal(3,1)"), ["1.5", None], [Decimal("1.5"), None]),
        (mapping("string", "date"), {"a": 0}, {"a": date(1970, 1, 1)}),
        (struct(a="long", d="decimal(3,1)"), {"a": 1, "d": "1.5"}, {"a": 1, "d": Decimal("1.5")}),
        (
            struct(m=mapping("string", struct(a="long"))),
            {"m": {"x": {"a": 1}}},
            {"m": {"x": {"a": 1}}},
        ),
    ],
)
def test_values_of_every_type_go_through_arrow(kind: Any, travels: Any, seen: Any) -> None:
    node = Alone(
        MapValuesWork(function(lambda batch: batch["value"])), value=code(kind), out_value=code(kind)
    )

    assert node.receive(("k", travels), ("k", None)) == [("k", seen), ("k", None)]
    assert node.errors == []


def test_the_columns_of_a_batch_are_the_fields_of_the_value() -> None:
    kind = code(struct(a="long", b="string"))

    def fields(batch: pa.RecordBatch) -> pa.RecordBatch:
        return pa.RecordBatch.from_pydict({"a": pa.array([1, 2], pa.int32()), "b": batch["value"]})

    node = Alone(MapValuesWork(function(fields)), out_value=kind)

    assert node.receive(("k", "x"), ("k", "y")) == [("k", {"a": 1, "b": "x"}), ("k", {"a": 2, "b": "y"})]


def test_map_returns_the_columns_key_and_value() -> None:
    def swapped(batch: pa.RecordBatch) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays([batch["key"], batch["value"]], names=["value", "key"])

    assert Alone(MapWork(function(swapped))).receive(("k", "v")) == [("v", "k")]


def test_select_key_and_filter_take_one_array() -> None:
    def short(batch: pa.RecordBatch) -> pa.Array:
        return pc.less(pc.utf8_length(batch["value"]), 3)

    def chunked(batch: pa.RecordBatch) -> pa.ChunkedArray:
        return pa.chunked_array([pc.utf8_length(batch["value"])])

    records = [("k", "ab"), ("k", "abc")]
    assert Alone(FilterWork(function(short))).receive(*records) == [("k", "ab")]
    assert Alone(FilterWork(function(short), negate=True)).receive(*records) == [("k", "abc")]
    assert Alone(SelectKeyWork(function(chunked)), out_key=LONG).receive(*records) == [(2, "ab"), (3, "abc")]


def test_only_the_records_fail_that_cannot_be_computed() -> None:
    def numbers(batch: pa.RecordBatch) -> pa.Array:
        return pc.cast(batch["value"], pa.int64())

    node = Alone(MapValuesWork(function(numbers)), out_value=LONG)
    records = [("k", "x" if place in (3, 17) else str(place)) for place in range(40)]

    found = node.receive(*records)

    assert [value for _, value in found] == [place for place in range(40) if place not in (3, 17)]
    assert [row for row, _ in node.errors] == [3, 17]
    kind, text, trace = node.told[0]
    assert trace.count("Traceback") == 1
    assert kind == "pyarrow.lib.ArrowInvalid"
    assert "Failed to parse string: 'x'" in text


def test_values_that_do_not_fit_fail_alone() -> None:
    node = Alone(MapValuesWork(function(lambda batch: batch["value"])), value=LONG, out_value=code("integer"))

    assert node.receive(("k", 1), ("k", 2**40), ("k", 3)) == [("k", 1), ("k", 3)]
    assert [row for row, _ in node.errors] == [1]


def test_an_answer_must_have_as_many_rows() -> None:
    def without_nulls(batch: pa.RecordBatch) -> pa.Array:
        return batch["value"].drop_null()

    node = Alone(MapValuesWork(function(without_nulls)))

    assert node.receive(("k", "a"), ("k", None)) == [("k", "a")]
    assert str(node.errors[0][1]) == (
        "The mapper of map_values at app.py:3 returned 0 rows for 1 records; "
        "return one row for each record, in their order"
    )


def test_an_answer_that_is_no_array_fails_all_records_after_one_call() -> None:
    calls = []

    def lists(batch: pa.RecordBatch) -> Any:
        calls.append(batch)
        return ["a", "b"]

    node = Alone(MapValuesWork(function(lists)))

    assert node.receive(("k", "a"), ("k", "b")) == []
    assert len(calls) == 1
    assert [row for row, _ in node.errors] == [0, 1]
    assert "must return a pyarrow.Array, found list ['a', 'b']" in str(node.errors[0][1])


@pytest.mark.parametrize(
    ("kind", "returned", "strange"),
    [
        (struct(a="long"), {"a": 1, "b": 2}, "b"),
        (struct(a=struct(b="long")), {"a": {"c": 1}}, "a.c"),
        (array(struct(a="long")), [{"a": 1, "b": 2}], "b"),
    ],
)
def test_a_field_that_the_type_does_not_have_is_refused(kind: Any, returned: Any, strange: str) -> None:
    node = Alone(MapValuesWork(function(lambda batch: pa.array([returned]))), out_value=code(kind))

    assert node.receive(("k", "a")) == []
    assert f"app.py:3 returned the field '{strange}', which its type does not have" in str(node.errors[0][1])


def test_map_must_return_both_columns() -> None:
    node = Alone(MapWork(function(lambda batch: batch)))

    node.receive(("k", "a"))

    assert "must return the columns key and value, found the columns key, value, timestamp" in str(
        node.errors[0][1]
    )


def test_a_filter_without_an_answer_fails() -> None:
    node = Alone(FilterWork(function(lambda batch: pa.array([None, True]))))

    assert node.receive(("k", "a"), ("k", "b")) == [("k", "b")]
    assert "must return True or False, found NoneType None" in str(node.errors[0][1])


def test_flat_map_has_no_batches() -> None:
    with pytest.raises(WorkerFailedError, match="cannot be one of batches; leave out batch= for flat_map"):
        Alone(FlatMapValuesWork(function(lambda batch: batch))).receive(("k", "v"))


def test_a_model_of_batches_is_opened_once() -> None:
    class Model:
        def open(self) -> None:
            self.suffix = "!"

        def __call__(self, batch: pa.RecordBatch) -> pa.Array:
            return pc.binary_join_element_wise(batch["value"], self.suffix, "")

    node = Alone(MapValuesWork(function(Model, is_factory=True)))

    assert node.receive(("k", "a")) == [("k", "a!")]
    node.close()


def test_a_windowed_key_is_a_struct_column() -> None:
    windowed = code(struct(key="string", start="long", end="long"), is_windowed=True)
    node = Alone(
        SelectKeyWork(function(lambda batch: pc.struct_field(batch["key"], "start"))),
        key=windowed,
        out_key=LONG,
    )

    assert node.receive(({"key": "a", "start": 5, "end": 10}, "v")) == [(5, "v")]


class TestPandas:
    """A batch is a DataFrame, an answer a Series or a DataFrame."""

    def test_a_series_is_an_answer(self) -> None:
        node = Alone(MapValuesWork(function(lambda frame: frame["value"].str.upper(), "pandas")))

        assert node.receive(("k", "a"), ("k", None)) == [("k", "A"), ("k", None)]

    def test_a_frame_is_a_struct_or_a_pair(self) -> None:
        def fields(frame: Any) -> Any:
            return pandas.DataFrame({"a": frame["value"].str.len(), "b": frame["value"]})

        def pairs(frame: Any) -> Any:
            return pandas.DataFrame({"key": frame["value"], "value": frame["key"]})

        kind = code(struct(a="long", b="string"))
        node = Alone(MapValuesWork(function(fields, "pandas")), out_value=kind)
        assert node.receive(("k", "ab")) == [("k", {"a": 2, "b": "ab"})]
        assert Alone(MapWork(function(pairs, "pandas"))).receive(("k", "v")) == [("v", "k")]

    def test_whole_numbers_stay_such_beside_a_null(self) -> None:
        big = 2**53 + 1
        node = Alone(
            MapValuesWork(function(lambda frame: frame["value"].astype(str), "pandas")),
            value=LONG,
        )
        same = Alone(
            MapValuesWork(function(lambda frame: frame["value"], "pandas")), value=LONG, out_value=LONG
        )

        assert node.receive(("k", big), ("k", None))[0] == node.receive(("k", big))[0] == ("k", str(big))
        assert same.receive(("k", big), ("k", None)) == [("k", big), ("k", None)]

    def test_a_column_that_the_type_does_not_have_is_refused(self) -> None:
        def fields(frame: Any) -> Any:
            return pandas.DataFrame({"lenght": frame["value"].str.len()})

        node = Alone(MapValuesWork(function(fields, "pandas")), out_value=code(struct(length="long")))

        assert node.receive(("k", "ab")) == []
        assert "returned the field 'lenght', which its type does not have" in str(node.errors[0][1])

    def test_a_predicate_is_a_series_of_booleans(self) -> None:
        node = Alone(FilterWork(function(lambda frame: frame["value"] > 1, "pandas")), value=LONG)

        assert node.receive(("k", 1), ("k", 2)) == [("k", 2)]

    def test_only_bad_records_fail(self) -> None:
        node = Alone(MapValuesWork(function(lambda f: f["value"].astype(int), "pandas")), out_value=LONG)

        assert node.receive(("k", "1"), ("k", "x"), ("k", "3")) == [("k", 1), ("k", 3)]
        assert [row for row, _ in node.errors] == [1]

    def test_anything_else_is_refused(self) -> None:
        node = Alone(MapValuesWork(function(lambda frame: "text", "pandas")))

        node.receive(("k", "v"))

        assert "must return a pandas.Series, found str 'text'" in str(node.errors[0][1])
