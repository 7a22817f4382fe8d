"""A real Spark query gives what the local engine gives, on any number of Spark partitions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.properties.cases import Case, cases, cut, single
from tests.properties.outcome import Runner
from tests.properties.settings import examples
from tests.properties.strategies import Limits

CASES = cases(Limits(most_steps=3), least_records=12, most_records=24)


@pytest.mark.parametrize("store_type", ["memory", "rocksdb"])
@pytest.mark.parametrize("spark_partitions", [1, 2, 3, 4])
@given(case=CASES, sizes=st.lists(st.integers(6, 11), min_size=1, max_size=2), stop=st.integers(0, 1))
@examples(3, shrink=False)
def test_a_query_that_is_restarted_in_the_middle_gives_what_the_local_engine_gives(
    spark: SparkSession, spark_partitions: int, store_type: str, case: Case, sizes: list[int], stop: int
) -> None:
    options = {"engine": "spark", "spark_partitions": spark_partitions, "store_type": store_type}
    batches = cut(case.records, sizes)

    on_spark = Runner(case, spark, options).run(batches, restart_before=1 + stop % (len(batches) - 1))

    assert on_spark == Runner(case, spark, {}).run(single(case.records))
