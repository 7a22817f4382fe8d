"""Errors go one way, all other lines the other way."""

from __future__ import annotations

from brookmere.testing import TopologyTestDriver
from examples.log_router import app

ERRORS = ["12:00:03 ERROR card declined", "12:00:05 FATAL out of memory"]
OTHERS = ["12:00:01 INFO started", "12:00:04 INFO 0 ERRORS found", ""]


def test_every_line_goes_one_way_in_order_and_with_its_key() -> None:
    with TopologyTestDriver(app) as driver:
        log = driver.input_topic("log")
        for line in [OTHERS[0], ERRORS[0], OTHERS[1], ERRORS[1], OTHERS[2]]:
            log.pipe_input("server-1", line)

        assert driver.output_topic("errors").read_key_values_to_list() == [("server-1", e) for e in ERRORS]
        assert driver.output_topic("other-lines").read_values_to_list() == OTHERS


def test_line_without_value_is_not_lost() -> None:
    with TopologyTestDriver(app) as driver:
        driver.input_topic("log").pipe_input("server-1", None)

        assert driver.output_topic("other-lines").read_key_value() == ("server-1", None)
