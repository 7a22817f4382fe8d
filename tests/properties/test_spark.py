"""A real Spark query gives what the local engine gives, on any number of Spark partitions."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.properties.cases import Case, cases, cut, single
from tests.properties.outcome import Runner
from tests.properties.search import rounds, search
from tests.properties.strategies import Limits

CASES = cases(Limits(most_steps=3), least_records=12, most_records=24)
SIZES = st.lists(st.integers(6, 11), min_size=1, max_size=2)
OPTIONS = st.fixed_dictionaries(
    {
        "engine": st.just("spark"),
        "spark_partitions": st.integers(1, 4),
        "store_type": st.sampled_from(["memory", "rocksdb"]),
    }
)


@pytest.mark.parametrize("number", rounds(2))
def test_a_query_that_is_restarted_in_the_middle_gives_what_the_local_engine_gives(
    spark: SparkSession, number: int
) -> None:
    @search(number, shrink=False, case=CASES, sizes=SIZES, stop=st.integers(0, 1), options=OPTIONS)
    def holds(case: Case, sizes: list[int], stop: int, options: dict[str, object]) -> None:
        batches = cut(case.records, sizes)

        on_spark = Runner(case, spark, options).run(batches, restart_before=1 + stop % (len(batches) - 1))

        assert on_spark == Runner(case, spark, {}).run(single(case.records))
