"""The model is loaded once, and predicts how long each parcel will take."""

from __future__ import annotations

from brookmere.testing import TopologyTestDriver
from examples.delivery_times import DeliveryTime, app
from tests.examples.sample_data import feed, pipe


def test_sample_data_has_one_parcel_that_will_be_late() -> None:
    with TopologyTestDriver(app) as driver:
        feed(driver, "delivery_times")

        hours = driver.output_topic("delivery-times").read_key_values_to_list()
        late = driver.output_topic("late-parcels").read_key_values_to_list()

    assert hours == [("p-1", 17.0), ("p-2", 54.0), ("p-3", 27.0), ("p-4", 22.0)]
    assert late == [("p-2", 54.0)]


def test_parcel_without_a_distance_has_no_time() -> None:
    with TopologyTestDriver(app) as driver:
        pipe(driver, "parcels", "p-1", {"weight": 2.0, "stops": 1.0, "express": False}, 0)

        assert driver.output_topic("delivery-times").read_key_value() == ("p-1", None)


def test_weights_are_loaded_once_per_process() -> None:
    model = DeliveryTime()

    model.open()

    assert model.weights["start"] == 6.0
