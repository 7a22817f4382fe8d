"""A cart is abandoned when its session closes without an order, and only then."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import SparkSession

import brookmere as bm
from brookmere.testing import TopologyTestDriver
from examples.abandoned_cart import app
from tests.examples.sample_data import fill, pipe, sample
from tests.run.homes import Home

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
CART = bm.Json("cart array<struct<item: string, pieces: int, price: double>>, worth double")
FOUND_IN_THE_SAMPLE = [
    ("ada", [("teapot", 1), ("cup", 2)], 36.5),
    ("dan", [("napkin", 2)], 8.0),
]


class Shop:
    """Fills carts, orders them, and reads which were abandoned."""

    def __init__(self, driver: TopologyTestDriver) -> None:
        self.driver = driver
        self.moves = driver.input_topic("cart-moves")
        self.orders = driver.input_topic("orders")

    def put(self, minute: float, item: str = "cup", pieces: int = 1, price: float | None = 2.0) -> None:
        at = NOON + timedelta(minutes=minute)
        self.moves.pipe_input("ada", {"item": item, "pieces": pieces, "price": price, "at": at})

    def order(self, minute: float, user: str = "ada") -> None:
        self.orders.pipe_input(user, {"number": "o-1", "at": NOON + timedelta(minutes=minute)})

    def wait(self, minute: float) -> None:
        """Let time go on by what somebody else does."""
        self.order(minute, user="somebody")

    def abandoned(self) -> list[tuple[str, list[tuple[str, int]], float]]:
        return [shown(*one) for one in self.driver.output_topic("abandoned-carts").read_key_values_to_list()]


@pytest.fixture
def shop() -> Iterator[Shop]:
    with TopologyTestDriver(app, start_time=NOON) as driver:
        yield Shop(driver)


def shown(user: Any, left: Any) -> tuple[str, list[tuple[str, int]], float]:
    return user, [(line["item"], line["pieces"]) for line in left["cart"]], left["worth"]


def test_sample_data_holds_two_abandoned_carts() -> None:
    with TopologyTestDriver(app) as driver:
        for topic, record in sorted(sample("abandoned_cart"), key=lambda one: one[1].timestamp):
            pipe(driver, topic, record.key, record.value, record.timestamp)

        found = driver.output_topic("abandoned-carts").read_key_values_to_list()
        assert [shown(*one) for one in found] == FOUND_IN_THE_SAMPLE


def test_cart_is_abandoned_when_the_gap_and_the_grace_have_passed(shop: Shop) -> None:
    shop.put(0)
    shop.wait(39.9)
    assert shop.abandoned() == []

    shop.wait(40)
    assert shop.abandoned() == [("ada", [("cup", 1)], 2.0)]


def test_every_event_extends_the_session(shop: Shop) -> None:
    for minute in (0, 30, 60):
        shop.put(minute)
    shop.wait(99)
    assert shop.abandoned() == []

    shop.wait(101)
    assert shop.abandoned() == [("ada", [("cup", 3)], 6.0)]


def test_order_within_the_gap_prevents_it(shop: Shop) -> None:
    shop.put(0)
    shop.order(30)
    shop.wait(200)

    assert shop.abandoned() == []


def test_order_after_the_gap_does_not(shop: Shop) -> None:
    shop.put(0)
    shop.order(30.1)
    shop.wait(200)

    assert len(shop.abandoned()) == 1


def test_late_order_within_the_grace_prevents_it(shop: Shop) -> None:
    shop.put(0)
    shop.wait(39)
    shop.order(10)
    shop.wait(200)

    assert shop.abandoned() == []


def test_too_late_order_goes_to_a_separate_topic(shop: Shop) -> None:
    shop.put(0)
    shop.wait(60)
    shop.order(10)

    assert len(shop.abandoned()) == 1
    late = shop.driver.output_topic("late-events", value=bm.Text()).read_record()
    assert (late.key, dict(late.headers)["brookmere.dropped.reason"]) == ("ada", b"late")


def test_late_event_merges_two_sessions(shop: Shop) -> None:
    shop.put(0)
    shop.put(35, "pot")
    shop.put(20)
    shop.wait(200)

    assert [(user, sorted(cart)) for user, cart, _ in shop.abandoned()] == [("ada", [("cup", 2), ("pot", 1)])]


def test_items_added_after_an_order_are_a_new_cart(shop: Shop) -> None:
    shop.put(0, "cup")
    shop.put(10, "pot")
    shop.order(5)
    shop.wait(200)

    assert shop.abandoned() == [("ada", [("pot", 1)], 2.0)]


def test_cart_that_was_emptied_is_not_abandoned(shop: Shop) -> None:
    shop.put(0, "cup", 2)
    shop.put(1, "cup", -2)
    shop.put(2, "pot", -1)
    shop.wait(200)

    assert shop.abandoned() == []


def test_item_without_a_price_is_in_the_cart_and_worth_nothing(shop: Shop) -> None:
    shop.put(0, "cup", 2)
    shop.put(1, "gift card", price=None)
    shop.wait(200)

    assert shop.abandoned() == [("ada", [("cup", 2), ("gift card", 1)], 4.0)]


@pytest.mark.parametrize("price", [None, 1.5])
def test_removed_item_is_gone_whatever_its_price(shop: Shop, price: float | None) -> None:
    shop.put(0, "cup", 2)
    shop.put(1, "cup", -2, price=price)
    shop.put(2, "pot")
    shop.wait(200)

    assert shop.abandoned() == [("ada", [("pot", 1)], 2.0)]


def test_latest_price_wins_in_any_order_of_arrival(shop: Shop) -> None:
    shop.put(0, price=2.0)
    shop.put(5, price=3.0)
    shop.put(1, price=1.0)
    shop.wait(200)

    assert shop.abandoned() == [("ada", [("cup", 3)], 9.0)]


def test_clock_closes_the_last_session_when_events_stop(shop: Shop) -> None:
    shop.put(0)
    shop.driver.advance_wall_clock(timedelta(minutes=39))
    assert shop.abandoned() == []

    shop.driver.advance_wall_clock(timedelta(minutes=2))
    assert len(shop.abandoned()) == 1


def test_invalid_event_is_skipped(shop: Shop) -> None:
    pipe(shop.driver, "cart-moves", "ada", "<html>", 0)
    pipe(shop.driver, "cart-moves", "ada", {"item": "cup", "pieces": 1, "price": 2.0}, 0)
    pipe(shop.driver, "cart-moves", "ada", {"pieces": 1, "at": "2026-05-04T12:00:00Z"}, 0)
    shop.wait(200)

    assert shop.abandoned() == []
    assert len(shop.driver.errors) == 1


def test_application_finds_the_abandoned_carts_of_its_topics(home: Home, spark: SparkSession) -> None:
    fill(home.topics, "abandoned_cart")

    home.run(app)

    carts = home.topics.consumer("abandoned-carts", key=bm.Text(), value=CART)
    assert [shown(record.key, record.value) for record in carts] == FOUND_IN_THE_SAMPLE


def test_application_resumes_with_the_open_carts(home: Home, spark: SparkSession) -> None:
    fill(home.topics, "abandoned_cart")
    home.run(app)
    for topic, user, value in (
        ("orders", b"fay", b'{"number": "o-4", "at": "2026-05-04T09:31:00Z"}'),
        ("cart-moves", b"gus", b'{"item": "tray", "pieces": 1, "price": 15.0, "at": "2026-05-04T12:00:00Z"}'),
        ("cart-moves", b"hal", b'{"item": "cup", "pieces": 1, "price": 6.0, "at": "2026-05-04T14:00:00Z"}'),
    ):
        home.topics[topic].append([bm.Record(user, value, 0)])

    home.run(app)

    carts = home.topics.consumer("abandoned-carts", key=bm.Text(), value=CART)
    assert [record.key for record in carts] == ["ada", "dan", "gus"]
