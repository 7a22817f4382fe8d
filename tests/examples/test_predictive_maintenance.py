"""Long or strong vibration raises one alarm, with the data of the machine."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from pyspark.sql import SparkSession

import brookmere as bm
from brookmere.testing import TopologyTestDriver
from examples.predictive_maintenance import app
from tests.examples.sample_data import feed, fill, pipe
from tests.run.homes import Home, let_stores_follow

START = 1777881600  # of the sample data, in seconds
FOUND_IN_THE_SAMPLE = [("lathe-2", "Turner S", "strong", 0.0), ("press-1", "Hydra 200", "long", 60.0)]


class Hall:
    """Sends readings of machines, and reads alarms."""

    def __init__(self, driver: TopologyTestDriver) -> None:
        self.driver = driver
        self.machines = driver.input_topic("machines")
        self.readings = driver.input_topic("readings")
        self.machines.pipe_input("press", {"model": "Hydra", "hall": "A", "limit": 4.0}, timestamp=0)

    def read(self, *seconds: float, vibration: float | None = 5.0, machine: str = "press") -> None:
        for second in seconds:
            self.readings.pipe_input(machine, {"vibration": vibration}, timestamp=round(second * 1000))

    def sessions(self) -> dict[tuple[float, float], Any]:
        rows = self.driver.store("unusual-vibration").all()
        return {(key["start"] / 1000, key["end"] / 1000): session for key, session in rows}

    def alarms(self) -> list[tuple[str, str | None, str, float]]:
        found = self.driver.output_topic("alarms").read_key_values_to_list()
        return [shown(*alarm) for alarm in found]


@pytest.fixture
def hall() -> Iterator[Hall]:
    with TopologyTestDriver(app) as driver:
        yield Hall(driver)


def shown(machine: Any, alarm: Any) -> tuple[str, str | None, str, float]:
    return machine, alarm["model"], alarm["reason"], alarm["seconds"]


def test_sample_data_holds_one_alarm_of_each_kind() -> None:
    with TopologyTestDriver(app) as driver:
        feed(driver, "predictive_maintenance", "machines")

        alarms = driver.output_topic("alarms").read_key_values_to_list()
        assert sorted(shown(*alarm) for alarm in alarms) == FOUND_IN_THE_SAMPLE


def test_session_of_a_minute_is_an_alarm_and_a_shorter_one_is_not(hall: Hall) -> None:
    hall.read(0, 20, 40, 59.9)
    assert hall.alarms() == []

    hall.read(60)
    assert hall.alarms() == [("press", "Hydra", "long", 60.0)]


def test_reading_of_twice_the_limit_is_an_alarm_at_once(hall: Hall) -> None:
    hall.read(0, vibration=7.9)
    assert hall.alarms() == []

    hall.read(10, vibration=8.0)
    assert hall.alarms() == [("press", "Hydra", "strong", 10.0)]


def test_calm_of_more_than_half_a_minute_ends_a_session(hall: Hall) -> None:
    hall.read(0, 30, 60.1, 90)

    assert hall.alarms() == []
    assert list(hall.sessions()) == [(0, 30), (60.1, 90)]


def test_readings_at_the_limit_are_usual(hall: Hall) -> None:
    hall.read(0, 30, 60, vibration=4.0)

    assert hall.sessions() == {}


def test_worsening_trouble_is_reported_again(hall: Hall) -> None:
    hall.read(0, 30, 60, 90)
    assert [reason for _, _, reason, _ in hall.alarms()] == ["long"]

    hall.read(100, 110, vibration=9.0)
    assert [reason for _, _, reason, _ in hall.alarms()] == ["strong"]


def test_machine_has_one_alarm_of_a_kind_in_a_quarter_of_an_hour(hall: Hall) -> None:
    hall.read(*range(0, 900, 30))
    assert len(hall.alarms()) == 1

    hall.read(*range(900, 1800, 30))
    assert len(hall.alarms()) == 1


def test_late_reading_merges_two_sessions(hall: Hall) -> None:
    hall.read(0, 20, 60, 80)
    assert hall.alarms() == []

    hall.read(40, vibration=6.0)
    assert hall.alarms() == [("press", "Hydra", "long", 80.0)]
    assert hall.sessions() == {(0, 80): {"readings": 5, "peak": 6.0, "strength": 1.5}}


def test_too_late_reading_goes_to_a_separate_topic(hall: Hall) -> None:
    hall.read(200, 0, vibration=9.0)

    late = hall.driver.output_topic("late-readings").read_record()
    assert (late.key, late.timestamp, late.value["vibration"]) == ("press", 0, 9.0)
    assert [end for _, end in hall.sessions()] == [200]


def test_limit_is_that_of_the_time_of_the_reading(hall: Hall) -> None:
    hall.read(0, 20)
    hall.machines.pipe_input("press", {"model": "Hydra", "hall": "B", "limit": 6.0}, timestamp=30_000)
    hall.read(40, 60)

    assert hall.alarms() == []
    assert list(hall.sessions()) == [(0, 20)]


def test_unknown_machine_has_the_default_limit(hall: Hall) -> None:
    hall.read(0, 30, 60, vibration=7.1, machine="fan")
    assert hall.alarms() == []

    hall.read(70, 100, 130, vibration=7.2, machine="fan")
    assert hall.alarms() == [("fan", None, "long", 60.0)]


@pytest.mark.parametrize("limit", [None, 0.0, -1.0, math.nan, math.inf])
def test_invalid_limit_is_replaced_by_the_default(hall: Hall, limit: float | None) -> None:
    hall.machines.pipe_input("fan", {"model": "Zephyr", "hall": "A", "limit": limit}, timestamp=0)
    hall.read(0, vibration=7.1, machine="fan")
    assert hall.sessions() == {}

    hall.read(0, vibration=14.2, machine="fan")
    assert hall.alarms() == [("fan", "Zephyr", "strong", 0.0)]


@pytest.mark.parametrize("vibration", [math.nan, math.inf])
def test_sensor_that_sends_no_number_gives_no_alarm(hall: Hall, vibration: float) -> None:
    hall.read(0, 30, 60, vibration=vibration)

    assert hall.alarms() == []
    assert hall.sessions() == {}


def test_invalid_reading_is_skipped(hall: Hall) -> None:
    pipe(hall.driver, "readings", "press", "sensor offline", 0)
    pipe(hall.driver, "readings", None, {"vibration": 9.0}, 0)
    hall.read(0, 30, 60, vibration=None)

    assert hall.alarms() == []
    assert hall.sessions() == {}
    assert [type(error) for error in hall.driver.errors] == [bm.errors.DeserializationError]


def test_application_sends_alarms_and_serves_sessions(home: Home, spark: SparkSession) -> None:
    fill(home.topics, "predictive_maintenance", partitions=2)

    with (
        home.application(app, statestore__cache__max__bytes=0) as application,
        bm.serve(application, "127.0.0.1:0") as server,
    ):
        application.process_all_available()
        let_stores_follow(application)
        page = httpx.get(f"{server.url}/stores/unusual-vibration/press-1").raise_for_status().json()

    (session,) = page["rows"]
    times = {"start": 1000 * (START + 60), "end": 1000 * (START + 130)}
    assert session["key"] == {"key": "press-1", **times}
    assert (session["value"]["readings"], session["value"]["peak"]) == (8, 6.48)
    alarm = bm.Json("model string, hall string, reason string, seconds double, peak double")
    alarms = home.topics.consumer("alarms", key=bm.Text(), value=alarm)
    assert sorted(shown(record.key, record.value) for record in alarms) == FOUND_IN_THE_SAMPLE
