"""Scenarios of every sixth template give on a real Spark query what Kafka Streams gave."""

from __future__ import annotations

from tests.conformance.runner import difference
from tests.conformance.scenario import Scenario
from tests.conformance.test_conformance import COVERED, named, some_cut

_EVERY = 6


def _lowest_seeds(scenarios: list[Scenario]) -> list[Scenario]:
    lowest: dict[str, Scenario] = {}
    for scenario in sorted(scenarios, key=lambda scenario: scenario.seed):
        lowest.setdefault(scenario.template, scenario)
    # A query takes seconds. `make conformance` runs all of them.
    return [lowest[template] for template in sorted(lowest)[::_EVERY]]


@named(_lowest_seeds(COVERED))
def test_scenario_conforms_on_spark(scenario: Scenario) -> None:
    assert difference(scenario, engine="spark", cut=some_cut(scenario)) is None
