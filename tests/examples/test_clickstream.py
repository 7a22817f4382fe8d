"""Each view is sent once, with the profile of its time and a nearby search, or without them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

import brookmere as bm
from brookmere.testing import TopologyTestDriver
from examples.clickstream import app
from tests.examples.sample_data import fill
from tests.run.homes import Home, until

ADA = {"name": "Ada", "zip": "8001", "interests": ["bells"]}


class Shop:
    """The topics of the program in a driver, and what came out of it."""

    def __init__(self, driver: TopologyTestDriver) -> None:
        self.driver = driver

    def profile(self, user: str, value: object, time: int) -> None:
        self.driver.input_topic("profiles").pipe_input(user, value, timestamp=time)

    def search(self, user: str, terms: str, time: int) -> None:
        self.driver.input_topic("searches").pipe_input(user, {"terms": terms}, timestamp=time)

    def view(self, user: str | None, id: str | None, time: int) -> None:
        self.driver.input_topic("views").pipe_input(user, {"id": id, "page": "/home"}, timestamp=time)

    def close(self) -> None:
        """Let so much time pass that nothing waits any more."""
        self.driver.advance_wall_clock(timedelta(minutes=1))

    def activities(self) -> dict[str, dict[str, Any]]:
        found = self.driver.output_topic("activities").read_values_to_list()
        by_view = {activity["id"]: activity for activity in found}
        assert len(by_view) == len(found), "each view comes out once"
        return by_view


@pytest.fixture
def shop() -> Iterator[Shop]:
    with TopologyTestDriver(app) as driver:
        yield Shop(driver)


def test_view_has_the_profile_and_the_search_of_its_visitor(shop: Shop) -> None:
    shop.profile("ada", ADA, 0)
    shop.search("bob", "bikes", 10_000)
    shop.search("ada", "bells", 10_000)
    shop.view("ada", "v1", 10_500)

    assert shop.activities() == {"v1": {"id": "v1", "page": "/home", "profile": ADA, "search": "bells"}}


@pytest.mark.parametrize(("apart", "found"), [(-1001, None), (-1000, "bells"), (1000, "bells"), (1001, None)])
def test_search_is_near_up_to_a_second_before_and_after(shop: Shop, apart: int, found: str | None) -> None:
    events = sorted([(10_000, "view"), (10_000 + apart, "search")])
    for time, kind in events:
        if kind == "view":
            shop.view("ada", "v1", time)
        else:
            shop.search("ada", "bells", time)
    shop.close()

    assert shop.activities()["v1"]["search"] == found


def test_view_without_profile_and_search_is_sent_once_no_search_can_match(shop: Shop) -> None:
    shop.view("bob", "v1", 10_000)
    shop.view("ada", "v2", 12_000)
    assert shop.activities() == {}

    shop.view("ada", "v3", 12_001)

    assert shop.activities() == {"v1": {"id": "v1", "page": "/home", "profile": None, "search": None}}


def test_last_views_are_sent_although_nothing_follows(shop: Shop) -> None:
    shop.view("ada", "v1", 10_000)
    shop.close()

    assert list(shop.activities()) == ["v1"]


def test_two_searches_and_a_view_that_is_sent_twice_make_one_activity(shop: Shop) -> None:
    shop.search("ada", "bell", 9_500)
    shop.search("ada", "bells", 9_600)
    shop.view("ada", "v1", 10_000)
    shop.view("ada", "v1", 10_000)
    shop.search("ada", "bells of brass", 10_100)
    shop.close()

    assert shop.activities()["v1"]["search"] == "bell"


def test_late_view_sees_the_profile_as_it_was(shop: Shop) -> None:
    shop.profile("ada", ADA, 0)
    shop.profile("ada", {**ADA, "zip": "9000"}, 60_000)
    shop.view("ada", "v1", 61_000)
    shop.view("ada", "v2", 59_000)
    shop.close()

    found = shop.activities()
    assert (found["v1"]["profile"]["zip"], found["v2"]["profile"]["zip"]) == ("9000", "8001")


def test_view_that_is_out_of_order_waits_for_its_search(shop: Shop) -> None:
    shop.view("bob", "v1", 11_500)
    shop.view("ada", "v2", 10_000)
    shop.search("ada", "bells", 10_500)
    shop.close()

    assert shop.activities()["v2"]["search"] == "bells"


def test_deleted_profile_is_missing_from_later_views(shop: Shop) -> None:
    shop.profile("ada", ADA, 0)
    shop.profile("ada", None, 5_000)
    shop.view("ada", "v1", 6_000)
    shop.close()

    assert shop.activities()["v1"]["profile"] is None


def test_anonymous_view_is_sent_and_one_without_id_is_set_aside(shop: Shop) -> None:
    shop.view(None, "v1", 10_000)
    shop.view("ada", None, 10_000)
    shop.driver.input_topic("views", value=bm.Text()).pipe_input("ada", "GET /home", timestamp=10_000)
    shop.close()

    assert list(shop.activities()) == ["v1"]
    assert shop.driver.output_topic("views-refused").queue_size() == 1


def test_view_that_is_too_late_to_deduplicate_goes_to_a_separate_topic(shop: Shop) -> None:
    shop.search("ada", "bells", 3_600_000)
    shop.view("ada", "v1", 3_600_000)
    shop.view("ada", "v2", 60_000)
    shop.close()

    assert list(shop.activities()) == ["v1"]
    assert shop.driver.output_topic("activities-late").read_value()["id"] == "v2"


@pytest.mark.usefixtures("spark")
def test_application_assembles_the_sample_visits(home: Home) -> None:
    fill(home.topics, "clickstream", partitions=2)

    with home.application(app, statestore__cache__max__bytes=0) as application:
        application.process_all_available()
        until(lambda: len(home.read("activities")) >= 11)

    activities = {activity["id"]: activity for activity in map(json.loads, home.read("activities"))}
    assert len(home.read("activities")) == len(activities) == 11
    assert home.read("views-refused") == ['{"id":null,"page":"/home"}']
    assert {id: activity["search"] for id, activity in activities.items() if activity["search"]} == {
        "v01": "brass bells",
        "v03": "bike lamp",
        "v05": "tents",
        "v07": "bell ropes",
    }
    assert {id: (activity["profile"] or {}).get("zip") for id, activity in activities.items()} == {
        "v01": "8001", "v06": "9000", "v07": "9000", "v08": "8001", "v11": "9000",
        "v03": "4051", "v04": "4051",
        "v02": "3011", "v09": None,
        "v05": None, "v10": None,
    }  # fmt: skip
