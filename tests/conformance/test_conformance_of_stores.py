"""Replicas of the changelogs of a scenario answer with the stores that Kafka Streams had."""

from __future__ import annotations

from tests.conformance.asking import can_be_asked, stores_difference
from tests.conformance.scenario import Scenario
from tests.conformance.test_conformance import SCENARIOS, named

_EVERY = 4


def _chosen() -> list[Scenario]:
    lowest: dict[str, Scenario] = {}
    for scenario in sorted(SCENARIOS, key=lambda scenario: scenario.seed):
        if can_be_asked(scenario):
            lowest.setdefault(scenario.template, scenario)
    # `make conformance` runs all scenarios. Here every kind of store must be among the chosen ones.
    chosen = [lowest[template] for template in sorted(lowest)[::_EVERY]]
    kinds = {store["type"] for scenario in chosen for store in scenario.data["stores"].values()}
    assert kinds == {"key_value", "window", "session", "versioned"}
    return chosen


@named(_chosen())
def test_stores_that_are_asked_conform(scenario: Scenario) -> None:
    assert stores_difference(scenario, f"random:{scenario.seed}") is None
