"""A program that stops and starts again goes on as if nothing had happened."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.properties.cases import Case, cases, cut, cuts, whole
from tests.properties.outcome import Runner
from tests.properties.search import rounds, search

STORE_TYPES = st.sampled_from(["memory", "rocksdb"])


@pytest.mark.parametrize("number", rounds(5))
def test_a_restart_between_any_two_batches_changes_nothing(spark: SparkSession, number: int) -> None:
    @search(number, case=cases(), sizes=cuts(), stop=st.integers(0, 100), store_type=STORE_TYPES)
    def holds(case: Case, sizes: list[int], stop: int, store_type: str) -> None:
        runner = Runner(case, spark, {"store_type": store_type})
        batches = cut(case.records, sizes)

        restarted = runner.run(batches, restart_before=stop % max(len(batches), 1))

        assert restarted == runner.run(whole(case.records))
