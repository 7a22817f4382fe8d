"""Optimization changes how a program runs, not what it writes.

Which order is promised: records that different inputs cause stay in the order of the inputs. Records that one
input causes stay in order as long as they stay in one task; and no order is promised between the streams of a
merge. Moving a repartition moves such records between tasks. So the programs here merge only streams that do
not share a record, and have either a single partition or no call that makes several records of one. Null keys
are left out: a repartition drops them, so one that moves up drops them for more readers, as in Kafka Streams.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyspark.sql import SparkSession

from tests.properties.cases import Case, cases, single
from tests.properties.outcome import Outcome, Runner
from tests.properties.search import rounds, search
from tests.properties.strategies import ANYTHING

ORDERED = replace(ANYTHING, null_keys=False, overlapping=False, shared_topics=False)
ONE_TASK = replace(ORDERED, numbered=False)
ONE_TO_ONE = ORDERED.without("flat_map", "flat_map_values", "group_table")


@pytest.mark.parametrize("number", rounds(4))
def test_an_optimized_program_with_one_partition_writes_the_same(spark: SparkSession, number: int) -> None:
    @search(number, case=cases(ONE_TASK))
    def holds(case: Case) -> None:
        records = tuple((topic, replace(record, partition=None)) for topic, record in case.records)
        assert_same_with_optimization(spark, replace(case, partitions=1, records=records))


@pytest.mark.parametrize("number", rounds(4))
def test_an_optimized_program_with_several_partitions_writes_the_same(
    spark: SparkSession, number: int
) -> None:
    @search(number, case=cases(ONE_TO_ONE))
    def holds(case: Case) -> None:
        assert_same_with_optimization(spark, case)


def assert_same_with_optimization(spark: SparkSession, case: Case) -> None:
    records = [(topic, replace(record, key=record.key or "-")) for topic, record in case.records]
    plain, optimized = (
        Runner(case, spark, {}, optimization=optimization).run(single(records))
        for optimization in ("none", "all")
    )
    assert _anywhere(optimized) == _anywhere(plain)


def _anywhere(outcome: Outcome) -> Outcome:
    """Leave out in which partition a record was written."""
    return Outcome(
        {topic: [row[:4] for row in rows] for topic, rows in outcome.topics.items()}, outcome.stores
    )
