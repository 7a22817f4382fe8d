"""Python functions give what Columns give, wherever they stand and however records are cut and spread."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.properties.cases import Case, cases, cut, cuts, whole
from tests.properties.outcome import Runner
from tests.properties.search import rounds, search

CHOICES = st.lists(st.sampled_from([True, True, False]), min_size=1, max_size=5)


@pytest.mark.parametrize("number", rounds(2))
def test_python_steps_give_what_columns_give(spark: SparkSession, number: int) -> None:
    @search(number, case=cases(), sizes=cuts(), choices=CHOICES)
    def holds(case: Case, sizes: list[int], choices: list[bool]) -> None:
        def is_python(place: int) -> bool:
            return choices[place % len(choices)]

        found = Runner(case, spark, {}, python=is_python).run(cut(case.records, sizes))

        assert found == Runner(case, spark, {}).run(whole(case.records))
