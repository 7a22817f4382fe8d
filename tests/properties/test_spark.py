"""A real Spark query gives what the local engine gives, on any number of Spark partitions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.properties.cases import Case, cases, cut, single
from tests.properties.outcome import Runner
from tests.properties.settings import examples
from tests.properties.strategies import Limits


@given(
    case=cases(Limits(begin=("group",), most_steps=5), least_records=12, most_records=24),
    sizes=st.lists(st.integers(6, 12), min_size=1, max_size=2),
    stop=st.integers(1, 3),
    spark_partitions=st.integers(1, 4),
    store_type=st.sampled_from(["memory", "rocksdb"]),
)
@examples(14, shrink=False)
def test_a_query_that_is_restarted_in_the_middle_gives_what_the_local_engine_gives(
    spark: SparkSession, case: Case, sizes: list[int], stop: int, spark_partitions: int, store_type: str
) -> None:
    options = {"engine": "spark", "spark_partitions": spark_partitions, "store_type": store_type}
    batches = cut(case.records, sizes)

    on_spark = Runner(case, spark, options).run(batches, restart_before=stop)

    assert on_spark == Runner(case, spark, {}).run(single(case.records))
