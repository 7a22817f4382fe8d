"""Scenarios of every sixth template give on a real Spark query what Kafka Streams gave."""

from __future__ import annotations

from tests.conformance.runner import difference
from tests.conformance.scenario import Scenario
from tests.conformance.test_conformance import SCENARIOS, named, one_of_each_template, some_cut

_EVERY = 6


# A query takes seconds. `make conformance` runs all of them.
@named(one_of_each_template(SCENARIOS)[::_EVERY])
def test_scenario_conforms_on_spark(scenario: Scenario) -> None:
    assert difference(scenario, engine="spark", cut=some_cut(scenario)) is None
