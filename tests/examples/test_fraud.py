"""Payments that are too many or too far apart are reviewed, in any order of arrival."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import SparkSession

import brookmere as bm
from brookmere.testing import TopologyTestDriver
from examples.fraud import app
from tests.examples.sample_data import feed, fill, pipe
from tests.run.homes import Home

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
PLACES = {
    "Lisbon": (38.72, -9.14),
    "Tokyo": (35.68, 139.69),
    "Paris": (48.86, 2.35),
    "London": (51.51, -0.13),
    "Suva": (-18.14, 178.44),
    "Apia": (-13.83, -171.77),
}
FOUND_IN_THE_SAMPLE = [
    ("card-2", "velocity", "payments in 5 minutes: 5, money: 69.95", ["p10", "p11", "p12", "p13", "p14"]),
    ("card-3", "distance", "Lisbon to Tokyo: 11144 km in 0.7 hours", ["p06", "p07"]),
    ("card-6", "velocity", "payments in 5 minutes: 2, money: 2230.00", ["p16", "p17"]),
]


class Till:
    """Pays with a card, and reads what is to be reviewed."""

    def __init__(self, driver: TopologyTestDriver) -> None:
        self.driver = driver
        self.payments = driver.input_topic("payments")

    def pay(self, id: str, at: timedelta, *, city: str | None = None, amount: float | None = 10.0) -> None:
        lat, lon = PLACES[city] if city else (None, None)
        payment = {"id": id, "at": NOON + at, "amount": amount, "city": city, "lat": lat, "lon": lon}
        self.payments.pipe_input("card", payment)

    def reviews(self) -> list[tuple[str, list[str]]]:
        found = self.driver.output_topic("reviews").read_values_to_list()
        return [(review["rule"], review["payments"]) for review in found]


@pytest.fixture
def till() -> Iterator[Till]:
    with TopologyTestDriver(app) as driver:
        yield Till(driver)


def minutes(n: float) -> timedelta:
    return timedelta(minutes=n)


def of(key: Any, review: Any) -> tuple[Any, ...]:
    return key, review["rule"], review["reason"], review["payments"]


def test_sample_data_holds_one_of_each_kind() -> None:
    with TopologyTestDriver(app) as driver:
        feed(driver, "fraud")

        reviews = driver.output_topic("reviews").read_key_values_to_list()
        assert [of(*review) for review in reviews] == FOUND_IN_THE_SAMPLE
        assert [late["id"] for late in driver.output_topic("late-payments").read_values_to_list()] == ["p19"]


def test_five_payments_in_any_five_minutes_are_too_many(till: Till) -> None:
    for n in range(5):
        till.pay(f"p{n}", minutes(3.5 + 1.25 * n))

    assert till.reviews() == [("velocity", ["p0", "p1", "p2", "p3", "p4"])]


def test_five_payments_in_more_than_five_minutes_are_not(till: Till) -> None:
    for n in range(5):
        till.pay(f"p{n}", minutes(1.26 * n))

    assert till.reviews() == []


def test_payments_that_come_late_fill_the_window_they_belong_to(till: Till) -> None:
    for n in (0, 1, 2, 3):
        till.pay(f"p{n}", minutes(n))
    till.pay("later", minutes(50))
    till.pay("late", minutes(2.5))

    assert [(rule, sorted(ids)) for rule, ids in till.reviews()] == [
        ("velocity", ["late", "p0", "p1", "p2", "p3"])
    ]


def test_much_money_in_few_payments_is_too_much(till: Till) -> None:
    till.pay("p1", minutes(0), amount=1000.0)
    till.pay("p2", minutes(4), amount=1000.0)
    assert till.reviews() == []

    till.pay("p3", minutes(5), amount=0.01)
    assert till.reviews() == [("velocity", ["p1", "p2", "p3"])]


def test_card_is_reported_once_an_hour(till: Till) -> None:
    for n in range(8):
        till.pay(f"p{n}", minutes(n / 2))
    assert len(till.reviews()) == 1

    for n in range(8):
        till.pay(f"q{n}", minutes(70 + n / 2))
    assert len(till.reviews()) == 1


@pytest.mark.parametrize("order", [("Lisbon", "Tokyo"), ("Tokyo", "Lisbon")])
def test_impossible_journey_is_found_in_any_order_of_arrival(till: Till, order: tuple[str, str]) -> None:
    times = {"Lisbon": minutes(0), "Tokyo": minutes(55)}
    for city in order:
        till.pay(city, times[city], city=city)

    assert till.reviews() == [("distance", ["Lisbon", "Tokyo"])]


@pytest.mark.parametrize(
    ("origin", "destination", "hours"),
    [("Lisbon", "Tokyo", 12.4), ("Paris", "London", 0.5), ("Suva", "Apia", 1.5), ("Paris", "Paris", 0.0)],
)
def test_journey_that_an_airliner_makes_is_not_reviewed(
    till: Till, origin: str, destination: str, hours: float
) -> None:
    till.pay("p1", minutes(0), city=origin)
    till.pay("p2", timedelta(hours=hours), city=destination)

    assert till.reviews() == []


def test_payments_of_the_same_moment_are_one_journey(till: Till) -> None:
    till.pay("p2", minutes(0), city="Lisbon")
    till.pay("p1", minutes(0), city="Tokyo")

    assert till.reviews() == [("distance", ["p1", "p2"])]


def test_payment_without_a_place_is_not_a_journey(till: Till) -> None:
    till.pay("p1", minutes(0), city="Lisbon")
    till.pay("p2", minutes(1))

    assert till.reviews() == []


@pytest.mark.parametrize(("lat", "lon"), [(91.0, 0.0), (0.0, 181.0), (math.nan, 0.0), (0.0, math.inf)])
def test_invalid_place_is_not_a_journey(till: Till, lat: float, lon: float) -> None:
    till.pay("p1", minutes(0), city="Lisbon")
    nowhere = {"id": "p2", "at": NOON + minutes(1), "amount": 10.0, "lat": lat, "lon": lon}
    till.payments.pipe_input("card", nowhere)

    assert till.reviews() == []


@pytest.mark.parametrize("amount", [None, math.nan, math.inf])
def test_payment_without_an_amount_counts_and_adds_no_money(till: Till, amount: float | None) -> None:
    for n in range(4):
        till.pay(f"p{n}", minutes(n), amount=amount)
    assert till.reviews() == []

    till.pay("p4", minutes(4), amount=amount)
    (review,) = till.driver.output_topic("reviews").read_values_to_list()
    assert review["reason"] == "payments in 5 minutes: 5, money: 0.00"


def test_payment_that_is_sent_twice_counts_once(till: Till) -> None:
    for n in range(4):
        till.pay(f"p{n}", minutes(n))
        till.pay(f"p{n}", minutes(n))

    assert till.reviews() == []


def test_too_late_payment_goes_to_a_separate_topic(till: Till) -> None:
    till.pay("now", minutes(60), city="Tokyo")
    till.pay("late", minutes(0), city="Lisbon")

    assert till.reviews() == []
    late = till.driver.output_topic("late-payments").read_record()
    assert (late.key, late.value["id"]) == ("card", "late")
    assert dict(late.headers)["brookmere.dropped.reason"] == b"late"


def test_invalid_payment_is_skipped_and_reported(till: Till) -> None:
    pipe(till.driver, "payments", "card", "connection lost", 0)
    pipe(till.driver, "payments", "card", {"id": "p1", "amount": 5000.0}, 0)
    pipe(till.driver, "payments", None, {"id": "p2", "at": "2026-05-04T12:00:00Z", "amount": 5000.0}, 0)

    assert till.reviews() == []
    assert [type(error) for error in till.driver.errors] == [bm.errors.DeserializationError]


def test_application_reviews_the_payments_of_its_topic(home: Home, spark: SparkSession) -> None:
    fill(home.topics, "fraud", partitions=2)

    home.run(app, statestore__cache__max__bytes=0)

    review = bm.Json("rule string, reason string, payments array<string>")
    reviews = home.topics.consumer("reviews", key=bm.Text(), value=review)
    assert sorted(of(record.key, record.value) for record in reviews) == FOUND_IN_THE_SAMPLE
