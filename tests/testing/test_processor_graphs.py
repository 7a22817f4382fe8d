"""Graphs of processors run as Kafka Streams runs them, whatever their links."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from pyspark.sql import SparkSession

import brookmere as bm
from brookmere.testing import TopologyTestDriver


class Timed(bm.Processor):
    """Forwards the stream time with each record, and at every 10 ms of it."""

    def init(self, context: Any) -> None:
        super().init(context)
        context.schedule(timedelta(milliseconds=10), "stream_time", self.report)

    def process(self, record: bm.Record) -> None:
        self.context.forward(record.with_value(f"{record.value}@{self.context.stream_time}"))

    def report(self, now: int) -> None:
        self.context.forward(bm.Record(self.context.node, "due", now))


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_source_next_to_a_processor_advances_the_time_of_both(spark: SparkSession, engine: Any) -> None:
    topology = bm.TopologyBuilder("graph", key=bm.Text(), value=bm.Text())
    topology.add_source("one", "one").add_source("two", "two")
    topology.add_processor("first", Timed, "one").add_processor("second", Timed, "first", "two")
    topology.add_sink("out", "out", "second")

    with TopologyTestDriver(topology, engine=engine, session=spark) as driver:
        driver.input_topic("two").pipe_input("a", "x", timestamp=5)
        driver.input_topic("one").pipe_input("a", "y", timestamp=3)
        found = driver.output_topic("out").read_key_values_to_list()

    assert found == [("a", "x@5"), ("first", "due@5"), ("second", "due"), ("a", "y@5@5")]
