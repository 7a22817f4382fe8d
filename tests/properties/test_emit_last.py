"""Emitting the last update per key and batch leaves out updates, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyspark.sql import SparkSession

from tests.properties.cases import Case, cases, cut, cuts
from tests.properties.outcome import Row, Runner
from tests.properties.search import rounds, search
from tests.properties.strategies import ANYTHING

# A stream behind a table has fewer records if the table tells less, so nothing may count them. A function
# that makes a value of a deletion shows rows that came and went within a batch, which nobody else ever saw.
_UNSEEN = ("to_stream", "through", "group_table", "transform_values")
ONE_TABLE_DEEP = replace(ANYTHING, shared_topics=False).without(*_UNSEEN)


@pytest.mark.parametrize("number", rounds(5))
def test_the_last_update_of_a_batch_is_the_same_whether_the_others_are_emitted_or_not(
    spark: SparkSession, number: int
) -> None:
    @search(number, case=cases(ONE_TABLE_DEEP), sizes=cuts())
    def holds(case: Case, sizes: list[int]) -> None:
        batches = cut(case.records, sizes)

        every, every_batch = Runner(case, spark, {"emit": "every"}).each(batches)
        last, last_batch = Runner(case, spark, {"emit": "last"}).each(batches)

        assert [_final(written) for written in last_batch] == [_final(written) for written in every_batch]
        assert last.stores == every.stores


def _final(written: dict[str, list[Row]]) -> dict[str, dict[object, Row]]:
    """Return the last row per topic, key and partition; a deletion is like no row."""
    return {
        topic: {place: row for place, row in _by_place(rows).items() if row[1] is not None}
        for topic, rows in written.items()
    }


def _by_place(rows: list[Row]) -> dict[object, Row]:
    return {(row[0], row[4]): row for row in rows}
