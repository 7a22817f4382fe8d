"""The driver runs Python code in the thread of the test, with the same results as a query."""

from __future__ import annotations

import sys
import threading
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.testing import TopologyTestDriver

ENGINES = pytest.mark.parametrize("engine", ["local", "spark"])


def shout(value: str) -> str:
    if value == "bad":
        raise ValueError("no such word")
    return value.upper()


class Counting(bm.Processor):
    """Forwards how often a key has occurred, and how often any key has."""

    stores = (bm.key_value_store("counts", key=bm.Text(), value=bm.Long()),)

    def process(self, record: bm.Record) -> None:
        counts = self.context.store("counts")
        counts.put(record.key, (counts.get(record.key) or 0) + 1)
        self.context.forward(record.with_value(f"{record.value}:{counts.get(record.key)}"))


def shouting() -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("shout", key=bm.Text(), value=bm.Text())
    app.stream("in").map_values(bm.python(shout)).to("out")
    return app


def counting() -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("counting", key=bm.Text(), value=bm.Text())
    stream = app.stream("in").filter(lambda value: value != "-")
    stream.process_values(Counting, value=str).map_values(lambda v: F.concat(v, F.lit("!"))).to("out")
    return app


def outputs(driver: TopologyTestDriver) -> list[tuple[Any, Any]]:
    return driver.output_topic("out").read_key_values_to_list()


@ENGINES
def test_python_function_can_replace_a_lambda(spark: SparkSession, engine: Any) -> None:
    with TopologyTestDriver(shouting(), engine=engine, session=spark) as driver:
        driver.input_topic("in").pipe_key_values([("a", "x"), ("b", "z"), ("a", "y")])

        assert outputs(driver) == [("a", "X"), ("b", "Z"), ("a", "Y")]


@ENGINES
def test_processor_state_survives_a_restart(spark: SparkSession, engine: Any) -> None:
    with TopologyTestDriver(counting(), engine=engine, session=spark, partitions=2) as driver:
        topic = driver.input_topic("in")
        for value in ("x", "-", "y"):
            topic.pipe_input("a", value)
        topic.pipe_input("b", "z")
        assert outputs(driver) == [("a", "x:1!"), ("a", "y:2!"), ("b", "z:1!")]

        driver.restart()
        topic.pipe_input("a", "u")

        assert outputs(driver) == [("a", "u:3!")]
        assert dict(driver.store("counts").all()) == {"a": 3, "b": 1}


def test_the_error_of_user_code_is_the_cause_of_the_drivers_error(spark: SparkSession) -> None:
    with TopologyTestDriver(shouting(), session=spark) as driver:
        with pytest.raises(bm.errors.ProcessingError, match="no such word") as failure:
            driver.input_topic("in").pipe_input("a", "bad")

        cause = failure.value.__cause__
        assert isinstance(cause, ValueError)
        assert failure.value.reason == "ValueError"
        assert "shout" in (failure.value.trace or "")


@ENGINES
def test_a_failing_record_is_skipped_when_the_handler_continues(spark: SparkSession, engine: Any) -> None:
    with TopologyTestDriver(shouting(), engine=engine, session=spark, on_error="continue") as driver:
        driver.input_topic("in").pipe_key_values([("a", "x"), ("a", "bad"), ("a", "y")])

        assert outputs(driver) == [("a", "X"), ("a", "Y")]
        [error] = driver.errors
        assert (error.reason, error.offset) == ("ValueError", 1)


def test_a_breakpoint_sees_the_main_thread_and_the_users_variables(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[bool, Any]] = []

    def stop() -> None:
        frame = sys._getframe(1)
        seen.append((threading.current_thread() is threading.main_thread(), frame.f_locals["word"]))

    monkeypatch.setattr(sys, "breakpointhook", stop)

    def stopping(value: str) -> str:
        word = value * 2
        breakpoint()
        return word

    app = bm.StreamsBuilder("stopping", key=bm.Text(), value=bm.Text())
    app.stream("in").map_values(bm.python(stopping)).to("out")
    with TopologyTestDriver(app, session=spark) as driver:
        driver.input_topic("in").pipe_input("a", "x")

        assert outputs(driver) == [("a", "xx")]
    assert seen == [(True, "x" * 2)]


def test_interrupted_test_leaves_the_driver_usable(spark: SparkSession) -> None:
    def quitting(value: str) -> str:
        if value == "quit":
            raise KeyboardInterrupt
        return value

    app = bm.StreamsBuilder("quitting", key=bm.Text(), value=bm.Text())
    app.stream("in").map_values(bm.python(quitting)).to("out")
    with TopologyTestDriver(app, session=spark) as driver:
        with pytest.raises(KeyboardInterrupt):
            driver.input_topic("in").pipe_input("a", "quit")
        driver.input_topic("in").pipe_input("a", "on")

        assert outputs(driver) == [("a", "on")]


def test_code_that_cannot_be_pickled_is_refused_with_its_line(spark: SparkSession) -> None:
    lock = threading.Lock()

    def locking(value: str) -> str:
        with lock:
            return value

    app = bm.StreamsBuilder("locking", key=bm.Text(), value=bm.Text())
    app.stream("in").map_values(bm.python(locking), name="locked").to("out")

    with pytest.raises(
        bm.errors.TopologyError, match=r"locked cannot be sent[\s\S]*lock[\s\S]*test_python_driver\.py:\d+"
    ):
        TopologyTestDriver(app, session=spark)
