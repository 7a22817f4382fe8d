"""A stream joined with itself gives the same results with one store as with two.

Left out are records that are as late as the stores still take them, to the millisecond: with one store they
do not meet themselves, as in Kafka Streams.
"""

from __future__ import annotations

import random

import pytest
from pyspark.sql import Column
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.record import Record
from brookmere.testing import TopologyTestDriver

Records = list[Record]


def both(left: Column, right: Column) -> Column:
    return F.concat(left, F.lit("/"), right)


def records(seed: int) -> Records:
    """Records out of order and late, some without key or value."""
    choose, time, made = random.Random(seed), 0, Records()
    for number in range(60):
        time += choose.choice((0, 1, 1, 3, 9))
        key = choose.choice(("a", "a", "b", None))
        value = None if choose.random() < 0.1 else str(number)
        made.append(Record(key, value, max(0, time - choose.choice((0, 0, 2, 6, 25)))))
    return made


def without_the_latest(fed: Records, retention: int) -> Records:
    kept, time = Records(), 0
    for record in fed:
        time = max(time, record.timestamp)
        if record.timestamp != time - retention + 1:
            kept.append(record)
    return kept


def joined(fed: Records, windows: bm.JoinWindows, optimization: str) -> Records:
    app = bm.StreamsBuilder("self", key=bm.Text(), value=bm.Text())
    stream = app.stream("in")
    stream.join(stream, both, windows=windows).to("out")
    with TopologyTestDriver(app.build(optimization=optimization)) as driver:
        driver.input_topic("in").pipe_records(fed)
        return driver.output_topic("out").read_records_to_list()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("before", "after", "grace"), [(4, 4, 0), (0, 7, 3), (5, 0, 10), (0, 0, 2)])
def test_one_store_gives_what_two_give(seed: int, before: int, after: int, grace: int) -> None:
    windows = bm.JoinWindows(before=f"{before}ms", after=f"{after}ms", grace=f"{grace}ms")
    fed = without_the_latest(records(seed), before + after + grace)

    expected = joined(fed, windows, "none")

    assert expected
    assert joined(fed, windows, "single.store.self.join") == expected
