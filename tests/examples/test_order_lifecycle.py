"""Events advance an order or are rejected, and time ends what takes too long."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import SparkSession

import brookmere as bm
from brookmere.testing import TopologyTestDriver
from examples.order_lifecycle import app
from tests.examples.sample_data import feed, fill, pipe
from tests.run.homes import Home

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
CHANGE = bm.Json("before string, after string, why string")
FOUND_IN_THE_SAMPLE = [
    ("o-1", "unpaid"),
    ("o-2", "unpaid"),
    ("o-1", "open"),
    ("o-3", "unpaid"),
    ("o-1", "sent"),
    ("o-3", "cancelled"),
    ("o-4", "unpaid"),
    ("o-2", "cancelled"),
    ("o-4", "open"),
    ("o-5", "unpaid"),
    ("o-4", "late"),
]


class Shop:
    """Tells events, and reads what became of the orders."""

    def __init__(self, driver: TopologyTestDriver) -> None:
        self.driver = driver

    def tell(self, minute: float, event: str, order: str = "o-1") -> None:
        time = NOON + timedelta(minutes=minute)
        self.driver.input_topic("order-events").pipe_input(order, {"event": event}, timestamp=time)

    def changes(self, topic: str = "order-states") -> list[tuple[str, str, str, str]]:
        found = self.driver.output_topic(topic, value=CHANGE).read_key_values_to_list()
        return [(key, value["before"], value["after"], value["why"]) for key, value in found]


@pytest.fixture
def shop() -> Iterator[Shop]:
    with TopologyTestDriver(app, start_time=NOON) as driver:
        yield Shop(driver)


def test_sample_data_has_orders_of_every_kind() -> None:
    with TopologyTestDriver(app) as driver:
        feed(driver, "order_lifecycle")

        states = driver.output_topic("order-states", value=CHANGE).read_key_values_to_list()
        refused = driver.output_topic("refused-events", value=CHANGE).read_key_values_to_list()

    assert [(key, value["after"]) for key, value in states] == FOUND_IN_THE_SAMPLE
    assert [(key, value["why"]) for key, value in refused] == [("o-3", "sent"), ("o-1", "cancelled")]


def test_events_move_an_order_on(shop: Shop) -> None:
    for minute, event in enumerate(("placed", "paid", "sent", "returned")):
        shop.tell(minute, event)

    assert [after for _, _, after, _ in shop.changes()] == ["unpaid", "open", "sent", "refunded"]


def test_impossible_event_is_refused_and_changes_nothing(shop: Shop) -> None:
    shop.tell(0, "placed")
    shop.tell(1, "returned")

    assert shop.changes("refused-events") == [("o-1", "unpaid", "unpaid", "returned")]
    assert shop.driver.store("orders").get("o-1")["state"] == "unpaid"


def test_order_that_is_not_paid_in_time_is_cancelled(shop: Shop) -> None:
    shop.tell(0, "placed")
    shop.tell(29.5, "placed", order="o-2")
    assert len(shop.changes()) == 2

    shop.tell(31, "placed", order="o-3")

    assert shop.changes()[1] == ("o-1", "unpaid", "cancelled", "time is over")


def test_payment_after_its_time_is_refused_although_nothing_happened_in_between(shop: Shop) -> None:
    shop.tell(0, "placed")
    shop.tell(31, "paid")

    assert shop.changes()[1:] == [("o-1", "unpaid", "cancelled", "time is over")]
    assert shop.changes("refused-events") == [("o-1", "cancelled", "cancelled", "paid")]


def test_payment_in_time_stops_the_clock(shop: Shop) -> None:
    shop.tell(0, "placed")
    shop.tell(20, "paid")
    shop.tell(60, "placed", order="o-2")

    assert shop.driver.store("orders").get("o-1")["state"] == "open"


def test_invalid_event_is_skipped(shop: Shop) -> None:
    pipe(shop.driver, "order-events", "o-1", "<html>", 0)
    pipe(shop.driver, "order-events", "o-1", None, 0)
    pipe(shop.driver, "order-events", None, {"event": "placed"}, 0)

    assert shop.changes() == []
    assert len(shop.driver.errors) == 1


def test_application_resumes_with_its_orders(home: Home, spark: SparkSession) -> None:
    fill(home.topics, "order_lifecycle")
    home.run(app)
    late: Any = b'{"event": "sent"}'
    home.topics["order-events"].append([bm.Record(b"o-4", late, 1778057460000)])

    home.run(app)

    states = home.topics.consumer("order-states", key=bm.Text(), value=CHANGE)
    found = [(record.key, record.value["after"]) for record in states]
    assert found == [*FOUND_IN_THE_SAMPLE, ("o-4", "sent")]
