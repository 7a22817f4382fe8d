"""The test driver: input, output, and refused arguments."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any, Literal

import pytest
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.serde import partition_for
from brookmere.testing import TopologyTestDriver

pytestmark = pytest.mark.usefixtures("spark")

Engine = Literal["local", "spark"]


def text_app() -> bm.StreamsBuilder:
    return bm.StreamsBuilder("driver-test", key=bm.Text(), value=bm.Text())


def counting() -> bm.StreamsBuilder:
    app = text_app()
    app.stream("in", name="source").group_by_key().count(store="counts", name="counter").to_stream().to("out")
    return app


def test_builder_and_topology_give_the_same_driver() -> None:
    app = counting()

    for program in (app, app.build()):
        with TopologyTestDriver(program) as driver:
            driver.input_topic("in").pipe_input("k", "v")

            assert driver.output_topic("out").read_key_value() == ("k", 1)


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_every_update_is_shown_unless_only_the_last_per_batch_is_requested(engine: Engine) -> None:
    records = [("in", bm.Record(key, "v", 0)) for key in "aabaa"]

    with TopologyTestDriver(counting(), engine=engine) as driver:
        driver.pipe_records(records)
        every = driver.output_topic("out").read_key_values_to_list()
    with TopologyTestDriver(counting(), engine=engine, emit="last") as driver:
        driver.pipe_records(records)
        last = driver.output_topic("out").read_key_values_to_list()
        driver.pipe_records(records[:1])
        later = driver.output_topic("out").read_key_values_to_list()

    assert every == [("a", 1), ("a", 2), ("b", 1), ("a", 3), ("a", 4)]
    assert sorted(last) == [("a", 4), ("b", 1)]
    assert later == [("a", 5)]


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_counters_report_what_each_node_did(engine: Engine) -> None:
    app = text_app()
    stream = app.stream("in", name="source").filter(lambda v: v != "no", name="filter")
    stream.map_values(lambda v: v.cast("int"), name="parse").group_by_key().count(name="count")

    with TopologyTestDriver(app, engine=engine, on_error="continue") as driver:
        driver.pipe_records([("in", bm.Record(key, value, 0)) for key, value in [
            ("k", "1"), ("k", "no"), ("k", "x"), (None, "2"), ("k", "3"),
        ]])  # fmt: skip

        assert driver.counters["source"] == {
            "received": 5,
            "forwarded": 5,
            "dropped": 0,
            "failed": 0,
            "late": 0,
        }
        assert driver.counters["filter"] == {
            "received": 5,
            "forwarded": 4,
            "dropped": 0,
            "failed": 0,
            "late": 0,
        }
        assert driver.counters["parse"] == {
            "received": 4,
            "forwarded": 3,
            "dropped": 0,
            "failed": 1,
            "late": 0,
        }
        assert driver.counters["count"] == {
            "received": 3,
            "forwarded": 2,
            "dropped": 1,
            "failed": 0,
            "late": 0,
        }


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_taps_call_python_in_the_order_of_arrival(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    app = bm.StreamsBuilder("taps", key=bm.Text(), value=bm.Json("n int, tags array<string>"))
    seen: list[Any] = []
    stream = app.stream("in").peek(lambda key, value: seen.append(("before", key, value)))
    mapped = stream.map(lambda key, value: (value.n, F.to_date(F.lit("2024-02-29"))))
    mapped.peek(lambda key, value: seen.append(("after", key, str(value))))
    mapped.group_by_key().count().to_stream().foreach(lambda key, value: seen.append(("count", key, value)))
    mapped.print("shown")

    with TopologyTestDriver(app, engine=engine) as driver:
        driver.pipe_records(
            [("in", bm.Record("a", {"n": 1, "tags": ["x"]}, 0)), ("in", bm.Record(None, {"n": 1}, 0))]
        )

    assert seen == [
        ("before", "a", {"n": 1, "tags": ["x"]}),
        ("after", 1, "2024-02-29"),
        ("count", 1, 1),
        ("before", None, {"n": 1, "tags": None}),
        ("after", 1, "2024-02-29"),
        ("count", 1, 2),
    ]
    assert capsys.readouterr().out == "[shown]: 1, 2024-02-29\n" * 2


def test_exception_of_a_tap_is_raised() -> None:
    app = text_app()
    app.stream("in").foreach(lambda key, value: {}[value])

    with TopologyTestDriver(app) as driver, pytest.raises(KeyError, match="nothing"):
        driver.input_topic("in").pipe_input("k", "nothing")


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_key_decides_the_partition_by_the_rule_of_kafka(engine: Engine) -> None:
    app = text_app()
    app.stream("in").to("out")
    keys = [f"key-{n}" for n in range(20)]

    with TopologyTestDriver(app, partitions=3, engine=engine) as driver:
        driver.pipe_records([("in", bm.Record(key, "v", 0)) for key in keys])

        out = driver.output_topic("out").read_records_to_list()
    assert [record.partition for record in out] == [partition_for(key.encode(), 3) for key in keys]
    assert {record.partition for record in out} == {0, 1, 2}


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_rekeyed_records_meet_in_the_task_of_their_new_key(engine: Engine) -> None:
    app = text_app()
    app.stream("in").group_by(lambda value: value).count().to_stream().to("out")

    with TopologyTestDriver(app, partitions=4, engine=engine) as driver:
        driver.pipe_records([("in", bm.Record(f"k{n}", f"v{n % 5}", 0)) for n in range(10)])

        out = driver.output_topic("out").read_records_to_list()
    assert {record.partition for record in out if record.key == "v1"} == {partition_for(b"v1", 4)}
    assert sorted((record.key, record.value) for record in out) == sorted(
        (f"v{n}", count) for n in range(5) for count in (1, 2)
    )


def test_partition_can_be_chosen_and_splits_the_state_of_a_key() -> None:
    with TopologyTestDriver(counting(), partitions={"in": 2}) as driver:
        feed = driver.input_topic("in")
        feed.pipe_input("k", "v", partition=0)
        feed.pipe_input("k", "v", partition=1)
        feed.pipe_input("k", "v", partition=1)

        out = driver.output_topic("out").read_records_to_list()
        with pytest.raises(bm.errors.ConfigError, match=r"'in' has 2 partitions, so there is no partition 2"):
            feed.pipe_input("k", "v", partition=2)
    assert [(record.partition, record.value) for record in out] == [(0, 1), (1, 1), (1, 2)]


def test_records_without_key_are_spread() -> None:
    app = text_app()
    app.stream("in").to("out")

    with TopologyTestDriver(app, partitions=2) as driver:
        driver.input_topic("in").pipe_values(["a", "b", "c", "d"])

        assert [r.partition for r in driver.output_topic("out").read_records_to_list()] == [0, 1, 0, 1]


def test_program_may_read_what_it_writes() -> None:
    app = bm.StreamsBuilder("loop", key=bm.Text(), value=bm.Int())
    app.stream("start").to("steps")
    steps = app.stream("steps")
    steps.filter(lambda n: n > 1).map_values(lambda n: n - F.lit(1)).to("steps")

    with TopologyTestDriver(app) as driver:
        driver.pipe_records([("start", bm.Record("a", 3, 7)), ("start", bm.Record("b", 2, 8))])

        out = driver.output_topic("steps").read_records_to_list()
    assert [(r.key, r.value, r.timestamp) for r in out] == [
        ("a", 3, 7), ("a", 2, 7), ("a", 1, 7), ("b", 2, 8), ("b", 1, 8),
    ]  # fmt: skip


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_record_names_its_own_topic(engine: Engine) -> None:
    app = bm.StreamsBuilder("router", key=bm.Text(), value=bm.Json("n int"))
    app.stream("in").to(lambda key, value: F.concat(F.lit("out-"), value.n.cast("string")))

    with TopologyTestDriver(app, engine=engine) as driver:
        driver.pipe_records([("in", bm.Record("k", {"n": n}, n, (("h", b"x"),))) for n in (1, 2, 1)])

        assert driver.output_topic("out-1").read_values_to_list() == [{"n": 1}, {"n": 1}]
        record = driver.output_topic("out-2").read_record()
        assert driver.output_topic("out-3").is_empty()
    assert record == bm.Record("k", {"n": 2}, 2, (("h", b"x"),), "out-2", 0)


def test_pattern_reads_existing_topics() -> None:
    app = text_app()
    app.stream(re.compile("orders-.*")).to("out")

    with TopologyTestDriver(app, partitions={"orders-a": 1, "orders-b": 2}) as driver:
        driver.input_topic("orders-b").pipe_input("k", "1")
        driver.input_topic("orders-a").pipe_input("k", "2")

        assert driver.output_topic("out").read_values_to_list() == ["1", "2"]
        with pytest.raises(
            bm.errors.ConfigError, match=r"no input topic 'orders-c'. Did you mean 'orders-[ab]'"
        ):
            driver.input_topic("orders-c")


def test_pattern_without_topics_is_refused() -> None:
    app = text_app()
    app.stream(re.compile("orders-.*")).to("out")

    with pytest.raises(bm.errors.TopologyError, match=r"No topic matches pattern 'orders-\.\*'"):
        TopologyTestDriver(app)


def test_several_topics_are_one_stream() -> None:
    app = text_app()
    app.stream(["a", "b"]).to("out")

    with TopologyTestDriver(app) as driver:
        driver.pipe_records([("b", bm.Record("k", "1", 9)), ("a", bm.Record("k", "2", 1))])

        assert driver.output_topic("out").read_values_to_list() == ["1", "2"]


def test_failed_query_reports_its_failure_again_and_does_not_hang() -> None:
    app = text_app()
    app.stream("in").map_values(lambda v: v.cast("int"), name="parse").to("out")

    with TopologyTestDriver(app, engine="spark") as driver:
        for _ in range(2):
            with pytest.raises(bm.errors.ProcessingError) as caught:
                driver.input_topic("in").pipe_input("k", "x")
            assert (caught.value.node, caught.value.offset) == ("parse", 0)


@pytest.mark.parametrize("engine", ["local", "spark"])
@pytest.mark.parametrize("store_type", ["memory", "rocksdb"])
def test_restart_keeps_the_state(engine: Engine, store_type: Any) -> None:
    with TopologyTestDriver(counting(), engine=engine, store_type=store_type) as driver:
        driver.input_topic("in").pipe_input("k", "v", timestamp=5)
        driver.restart()
        driver.input_topic("in").pipe_input("k", "v", timestamp=3)

        assert driver.output_topic("out").read_values_to_list() == [1, 2]
        assert driver.store("counts").rows() == [("k", 2, 5)]


def test_wall_clock_starts_at_the_given_time_and_is_advanced_manually() -> None:
    with TopologyTestDriver(counting(), start_time=1000) as driver:
        driver.input_topic("in").pipe_input("k", "v")
        driver.advance_wall_clock(timedelta(seconds=2))
        driver.input_topic("in").pipe_input("k", "v")

        assert driver.wall_clock == 3000
        times = [record.timestamp for record in driver.output_topic("out").read_records_to_list()]
    assert times == [1000, 3000]


def test_two_drivers_do_not_disturb_each_other() -> None:
    app = counting()

    with TopologyTestDriver(app) as one, TopologyTestDriver(app, partitions=2) as two:
        one.input_topic("in").pipe_input("k", "v")
        two.input_topic("in").pipe_input("k", "v")
        two.input_topic("in").pipe_input("k", "v")
        one.input_topic("in").pipe_input("l", "v")

        assert one.output_topic("out").read_key_values_to_list() == [("k", 1), ("l", 1)]
        assert two.output_topic("out").read_key_values_to_list() == [("k", 1), ("k", 2)]
        assert (len(one.store("counts")), len(two.store("counts"))) == (2, 1)


def test_drivers_can_run_in_separate_threads() -> None:
    def run(number: int) -> list[int]:
        with TopologyTestDriver(counting()) as driver:
            feed = driver.input_topic("in")
            for _ in range(number):
                feed.pipe_input("k", "v")
            counts: list[int] = driver.output_topic("out").read_values_to_list()
            return counts

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(run, [3, 5, 7, 9]))

    assert results == [list(range(1, number + 1)) for number in (3, 5, 7, 9)]
