"""The meaning of a program does not depend on where its records are cut into batches."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.properties.cases import Case, cases, cut, cuts, single, whole
from tests.properties.outcome import Runner
from tests.properties.search import rounds, search
from tests.properties.strategies import FANS, Limits

FANNED = Limits(beginnings=FANS, most_steps=2, numbered=False)
STORE_TYPES = st.permutations(["memory", "rocksdb"])


@pytest.mark.parametrize("number", rounds(6))
def test_every_cut_into_batches_gives_the_same_records_in_the_same_order_and_the_same_stores(
    spark: SparkSession, number: int
) -> None:
    @search(number, case=cases(), sizes=cuts(), store_types=STORE_TYPES)
    def holds(case: Case, sizes: list[int], store_types: list[str]) -> None:
        one, other = (Runner(case, spark, {"store_type": store_type}) for store_type in store_types)

        expected = one.run(single(case.records))

        assert other.run(cut(case.records, sizes)) == expected


@pytest.mark.parametrize("number", rounds(5))
def test_what_one_record_causes_in_several_tasks_has_the_same_order_for_every_cut(
    spark: SparkSession, number: int
) -> None:
    @search(number, case=cases(FANNED, most_records=40, least_partitions=2))
    def holds(case: Case) -> None:
        runner = Runner(case, spark, {})

        assert runner.run(whole(case.records)) == runner.run(single(case.records))
