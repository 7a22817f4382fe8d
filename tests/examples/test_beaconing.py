"""Regular calls are found, irregular and known ones are not, in any order of arrival."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

import brookmere as bm
from brookmere.testing import TopologyTestDriver
from examples.beaconing import PAIR, app
from tests.examples.sample_data import feed, fill, pipe
from tests.run.homes import Home

DAY = 86_400


class Network:
    """Connects hosts with destinations, and reads which of them are beacons."""

    def __init__(self, driver: TopologyTestDriver) -> None:
        self.driver = driver
        self.connections = driver.input_topic("connections")

    def connect(self, *seconds: float, host: str = "desk", destination: str = "away.example") -> None:
        for second in seconds:
            connection = {"host": host, "destination": destination, "bytes": 100}
            self.connections.pipe_input(None, connection, timestamp=round(second * 1000))

    def close(self, second: float) -> None:
        """Let all calls close that were over two minutes before `second`."""
        self.connect(second, host="closing", destination="closing.example")

    def beacons(self) -> list[tuple[str, float, int]]:
        found = self.driver.output_topic("beacons").read_key_values_to_list()
        return [(pair["host"], beacon["every"], beacon["calls"]) for pair, beacon in found]


@pytest.fixture
def network() -> Iterator[Network]:
    with TopologyTestDriver(app) as driver:
        yield Network(driver)


def test_sample_data_holds_one_beacon() -> None:
    with TopologyTestDriver(app) as driver:
        feed(driver, "beaconing", "known")

        assert driver.output_topic("beacons").read_key_values_to_list() == [
            (
                {"host": "desk-7", "destination": "cdn-stats.example"},
                {"every": 60.0, "calls": 11, "variation": 0.024},
            )
        ]


def test_ten_even_gaps_are_a_beacon_and_nine_are_not(network: Network) -> None:
    network.connect(*range(0, 600, 60))
    network.close(606)
    assert network.beacons() == []

    network.connect(600)
    network.close(900)
    assert network.beacons() == [("desk", 60.0, 11)]


def test_beacon_is_reported_once_a_day(network: Network) -> None:
    network.connect(*range(0, 2 * DAY, 600))

    assert len(network.beacons()) == 2


def test_connections_of_one_burst_are_one_call(network: Network) -> None:
    for minute in range(11):
        network.connect(60 * minute, 60 * minute + 4, 60 * minute + 8)
    network.close(900)

    assert network.beacons() == [("desk", 60.0, 11)]


def test_late_connections_are_inserted_in_order(network: Network) -> None:
    times = [60.0 * n for n in range(11)]
    network.connect(*[time for pair in zip(times[1::2], times[0::2], strict=False) for time in pair])
    network.connect(times[-1])
    network.close(900)

    assert network.beacons() == [("desk", 60.0, 11)]


def test_too_late_connection_goes_to_a_separate_topic(network: Network) -> None:
    network.connect(1000, 0)

    late = network.driver.output_topic("late-connections").read_record()
    assert (late.value["host"], late.timestamp) == ("desk", 0)


def test_people_are_not_beacons_however_busy_they_are(network: Network) -> None:
    chance = random.Random(4)
    times = [0.0]
    while len(times) < 200:
        times.append(times[-1] + 6 + chance.expovariate(1 / 30))
    network.connect(*times)
    network.close(times[-1] + 600)

    assert network.beacons() == []


def test_host_that_is_busy_elsewhere_is_found_by_its_beacon(network: Network) -> None:
    chance = random.Random(5)
    beacon = [(60 * n + chance.uniform(-3, 3), "away.example") for n in range(1, 13)]
    browsing = [(chance.uniform(0, 800), "news.example") for _ in range(100)]
    for time, destination in sorted(beacon + browsing):
        network.connect(time, destination=destination)
    network.close(1200)

    assert [host for host, _, _ in network.beacons()] == ["desk"]


@pytest.mark.parametrize("known", [{"owner": "IT"}, {"owner": None}])
def test_known_destination_is_not_a_beacon(network: Network, known: dict[str, str | None]) -> None:
    network.driver.input_topic("known").pipe_input("away.example", known)
    network.connect(*range(0, 900, 60))
    network.close(1200)

    assert network.beacons() == []


def test_pair_starts_from_scratch_after_a_night_of_silence(network: Network) -> None:
    network.connect(0, 10, 100, 130)
    network.connect(*(DAY / 2 + 60 * n for n in range(11)))
    network.close(DAY / 2 + 900)

    assert network.beacons() == [("desk", 60.0, 11)]


def test_numbers_of_a_pair_are_those_of_statistics(network: Network) -> None:
    chance = random.Random(6)
    gaps = [round(chance.uniform(6, 900), 3) for _ in range(50)]
    times = [1000 + sum(gaps[:n]) for n in range(51)]
    network.connect(*times)
    network.close(times[-1] + 200)

    seen = network.driver.store("gaps").get({"host": "desk", "destination": "away.example"})
    assert seen["gaps"] == 50
    assert math.isclose(seen["mean"], statistics.mean(gaps), rel_tol=1e-9)
    assert math.isclose(seen["squares"] / 50, statistics.pvariance(gaps), rel_tol=1e-9)


def test_invalid_connection_is_skipped(network: Network) -> None:
    pipe(network.driver, "connections", None, "rotated", 0)
    pipe(network.driver, "connections", None, {"host": "desk"}, 0)
    network.close(900)

    assert network.beacons() == []
    assert len(network.driver.errors) == 1


def test_application_finds_the_beacon_of_its_topic(home: Home, spark: SparkSession) -> None:
    fill(home.topics, "beaconing")

    home.run(app)

    beacon = bm.Json("every double, calls bigint, variation double")
    found = [(r.key, r.value) for r in home.topics.consumer("beacons", key=PAIR, value=beacon)]
    assert [pair for pair, _ in found] == [{"host": "desk-7", "destination": "cdn-stats.example"}]
    assert found[0][1]["variation"] < 0.1
