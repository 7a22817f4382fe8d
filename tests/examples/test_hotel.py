"""A booking takes its nights and a cancellation gives them back, even if some are repeated, late or wrong."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import httpx
import pytest

import brookmere as bm
from brookmere.testing import TopologyTestDriver
from examples.hotel import app, routes
from tests.examples.sample_data import fill
from tests.run.homes import Home, let_stores_follow

EVE = date(2026, 12, 24)
ROOMS = {"l1": "linde", "l2": "linde", "e1": "eiche"}


class Desk:
    """Books and cancels, and reads what the tables say."""

    def __init__(self, driver: TopologyTestDriver) -> None:
        self.driver = driver
        for room, hotel in ROOMS.items():
            driver.input_topic("rooms").pipe_input(room, {"hotel": hotel, "beds": 2})

    def book(
        self, id: str, room: str | None, arrival: date | None, nights: int, customer: str | None = "ada"
    ) -> None:
        value = {"room": room, "customer": customer, "arrival": arrival, "nights": nights}
        self.driver.input_topic("bookings").pipe_input(id, value)

    def cancel(self, id: str) -> None:
        self.driver.input_topic("cancellations").pipe_input(id, {"reason": "snow"})

    def name(self, customer: str, name: str) -> None:
        self.driver.input_topic("customers").pipe_input(customer, {"name": name})

    def occupancy(self) -> dict[str, int]:
        """Return the nights with rooms that are taken; none is ever below zero."""
        rows = dict(self.driver.store("occupancy").all())
        assert all(taken >= 0 for taken in rows.values())
        return {night: taken for night, taken in rows.items() if taken}

    def booking(self, id: str) -> Any:
        return self.driver.store("bookings").get(id)


@pytest.fixture
def desk() -> Iterator[Desk]:
    with TopologyTestDriver(app) as driver:
        yield Desk(driver)


def test_booking_takes_a_room_in_each_of_its_nights(desk: Desk) -> None:
    desk.book("b1", "l1", date(2026, 12, 30), 3)
    desk.book("b2", "l2", date(2026, 12, 31), 1)

    assert desk.occupancy() == {"linde/2026-12-30": 1, "linde/2026-12-31": 2, "linde/2027-01-01": 1}


def test_cancellation_gives_the_nights_back_once(desk: Desk) -> None:
    desk.book("b1", "l1", EVE, 2)
    desk.book("b2", "l2", EVE, 1)

    desk.cancel("b1")
    desk.cancel("b1")

    assert desk.occupancy() == {"linde/2026-12-24": 1}
    assert desk.booking("b1")["status"] == "cancelled"


def test_cancellation_of_an_unknown_booking_changes_nothing(desk: Desk) -> None:
    desk.book("b1", "l1", EVE, 1)

    desk.cancel("b99")

    assert desk.occupancy() == {"linde/2026-12-24": 1}
    assert desk.booking("b99") is None


def test_cancelled_booking_can_be_booked_again(desk: Desk) -> None:
    desk.book("b1", "l1", EVE, 1)
    desk.cancel("b1")
    desk.book("b1", "l1", EVE, 1)

    assert desk.occupancy() == {"linde/2026-12-24": 1}
    assert desk.booking("b1")["status"] == "booked"


def test_booking_that_is_sent_twice_counts_once(desk: Desk) -> None:
    desk.book("b1", "l1", EVE, 1)
    desk.book("b1", "l1", EVE, 1)

    assert desk.occupancy() == {"linde/2026-12-24": 1}


def test_booking_that_is_changed_gives_back_what_it_does_not_need(desk: Desk) -> None:
    desk.book("b1", "l1", EVE, 3)
    desk.book("b1", "e1", EVE + timedelta(days=1), 1)

    assert desk.occupancy() == {"eiche/2026-12-25": 1}

    desk.cancel("b1")
    assert desk.occupancy() == {}


@pytest.mark.parametrize(
    ("room", "arrival", "nights", "customer"),
    [
        ("x9", EVE, 1, "ada"),
        (None, EVE, 1, "ada"),
        ("l1", None, 1, "ada"),
        ("l1", EVE, 0, "ada"),
        ("l1", EVE, -1, "ada"),
        ("l1", EVE, 91, "ada"),
        ("l1", EVE, 1, None),
    ],
)
def test_impossible_booking_is_set_aside(
    desk: Desk, room: str | None, arrival: date | None, nights: int, customer: str | None
) -> None:
    desk.book("b1", room, arrival, nights, customer)

    assert desk.driver.output_topic("bookings-refused").queue_size() == 1
    assert desk.occupancy() == {}
    assert desk.booking("b1") is None


def test_name_of_a_customer_shows_in_all_bookings_at_once(desk: Desk) -> None:
    desk.book("b1", "l1", EVE, 1)
    desk.book("b2", "e1", EVE, 1)
    assert desk.booking("b1")["name"] is None

    desk.name("ada", "Ada Lind")
    desk.name("ada", "Ada Lind-Roth")

    assert [desk.booking(id)["name"] for id in ("b1", "b2")] == ["Ada Lind-Roth"] * 2


@pytest.mark.parametrize("seed", range(3))
def test_occupancy_equals_that_of_a_dictionary_of_bookings(seed: int) -> None:
    chance = random.Random(seed)
    standing: dict[str, tuple[str, date, int]] = {}
    with TopologyTestDriver(app, partitions={"bookings": 3, "cancellations": 3, "customers": 3}) as driver:
        desk = Desk(driver)
        for _ in range(60):
            id = f"b{chance.randrange(12)}"
            if chance.random() < 0.4:
                desk.cancel(id)
                standing.pop(id, None)
            else:
                stay = (
                    chance.choice(list(ROOMS)),
                    EVE + timedelta(days=chance.randrange(5)),
                    chance.randint(1, 4),
                )
                desk.book(id, *stay)
                standing[id] = stay

        assert desk.occupancy() == Counter(
            f"{ROOMS[room]}/{arrival + timedelta(days=n)}"
            for room, arrival, nights in standing.values()
            for n in range(nights)
        )


@pytest.mark.usefixtures("spark")
def test_booking_and_its_cancellation_show_in_every_response(home: Home) -> None:
    fill(home.topics, "hotel", partitions=2)

    with (
        home.application(app) as application,
        bm.serve(application, "127.0.0.1:0", routes=[routes]) as server,
        httpx.Client(base_url=server.url) as client,
    ):
        application.process_all_available()
        let_stores_follow(application)
        assert client.get("/bookings/b2").json()["status"] == "cancelled"
        assert client.get("/bookings/b1").json() == {
            "id": "b1", "status": "booked", "hotel": "linde", "room": "l1", "customer": "ada",
            "name": "Ada Lind", "arrival": "2026-12-23", "nights": 3,
        }  # fmt: skip
        assert client.get("/hotels/linde/occupancy", params={"day": "2026-12-24"}).json() == {
            "hotel": "linde", "day": "2026-12-24", "rooms": 3, "taken": 1,
        }  # fmt: skip
        assert taken(client, "eiche", "2027-01-01") == 1
        assert taken(client, "eiche", "2027-01-02") == 0
        found = client.get("/customers/ada/bookings").json()
        assert [(booking["id"], booking["hotel"]) for booking in found] == [("b4", "eiche"), ("b1", "linde")]

        booking = b'{"room": "l3", "customer": "zoe", "arrival": "2026-12-27", "nights": 1}'
        home.topics["bookings"].append([bm.Record(b"b8", booking, 0)])
        home.topics["cancellations"].append([bm.Record(b"b1", b"{}", 0)])
        application.process_all_available()
        let_stores_follow(application)

        assert taken(client, "linde", "2026-12-24") == 0
        assert client.get("/bookings/b1").json()["status"] == "cancelled"
        assert client.get("/customers/ada/bookings").json()[1]["status"] == "cancelled"
        assert client.get("/bookings/b8").json()["customer"] == "zoe"
        assert [booking["id"] for booking in client.get("/customers/zoe/bookings").json()] == ["b8"]
        for path in ("/bookings/b99", "/customers/nobody/bookings", "/hotels/none/occupancy?day=2026-12-24"):
            answer = client.get(path)
            assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
        assert client.get("/hotels/linde/occupancy?day=tomorrow").status_code == 422


def taken(client: httpx.Client, hotel: str, day: str) -> int:
    rooms: int = client.get(f"/hotels/{hotel}/occupancy", params={"day": day}).json()["taken"]
    return rooms
