"""The stream time that a processor sees: which records of which sources advance it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import brookmere as bm
from brookmere.testing import TopologyTestDriver


class Sweep(bm.Processor):
    """Forwards the time of each call, every 10 ms of stream time."""

    def init(self, context: Any) -> None:
        super().init(context)
        context.schedule(timedelta(milliseconds=10), "stream_time", self.sweep)

    def sweep(self, now: int) -> None:
        self.context.forward(bm.Record("sweep", str(now), now))

    def process(self, record: bm.Record) -> None:
        pass


def _app() -> bm.StreamsBuilder:
    return bm.StreamsBuilder("times", key=bm.Text(), value=bm.Text())


def _swept(app: bm.StreamsBuilder, *records: tuple[str, str, int], **options: Any) -> list[list[str]]:
    """Return the values of "out" after each of some records, given as topic, key and time."""
    with TopologyTestDriver(app, **options) as driver:
        out = driver.output_topic("out")
        found = []
        for topic, key, time in records:
            driver.input_topic(topic).pipe_input(key, "v", timestamp=time)
            found.append([value for key, value in out.read_key_values_to_list() if key == "sweep"])
        return found


def test_sub_topologies_of_several_partitions_have_stream_times_of_their_own() -> None:
    app = _app()
    table = app.table("right")
    app.stream("left").process(Sweep).left_join(table, lambda left, right: left).to("out")

    swept = _swept(app, ("right", "a", 30), ("left", "a", 5), partitions=2)

    assert swept == [[], ["5"]]


def test_sub_topologies_of_one_partition_are_one_task_of_the_driver() -> None:
    app = _app()
    table = app.table("right")
    app.stream("left").process(Sweep).left_join(table, lambda left, right: left).to("out")

    swept = _swept(app, ("right", "a", 30), ("left", "a", 5), ("right", "a", 40))

    assert swept == [["30"], [], ["40"]]


def test_repartitioned_stream_alongside_a_processor_advances_its_stream_time() -> None:
    app = _app()
    other = app.stream("right").select_key(lambda key, value: key).repartition()
    app.stream("left").process(Sweep).merge(other).to("out")

    swept = _swept(
        app, ("left", "a", 5), ("right", "a", 30), ("left", "a", 35), ("left", "a", 40), partitions=2
    )

    assert swept == [["5"], ["30"], [], ["40"]]
