"""Every recorded scenario gives on the local engine what Kafka Streams gave."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from tests.conformance.runner import difference
from tests.conformance.scenario import Scenario, load

SCENARIOS = load(Path(__file__).parent / "scenarios")


def named(scenarios: list[Scenario]) -> pytest.MarkDecorator:
    """Run a test once per scenario, under the scenario's name."""
    return pytest.mark.parametrize("scenario", scenarios, ids=[scenario.name for scenario in scenarios])


def some_cut(scenario: Scenario) -> str:
    """Return how to cut a scenario: about half of them in one micro-batch, the others in several."""
    return "whole" if zlib.crc32(scenario.name.encode()) % 2 else f"random:{scenario.seed}"


def one_of_each_template(scenarios: list[Scenario]) -> list[Scenario]:
    """Return the scenario with the lowest seed of each template, in the order of templates."""
    lowest: dict[str, Scenario] = {}
    for scenario in sorted(scenarios, key=lambda scenario: scenario.seed):
        lowest.setdefault(scenario.template, scenario)
    return [lowest[template] for template in sorted(lowest)]


def test_scenarios_are_found() -> None:
    assert SCENARIOS


@named(SCENARIOS)
def test_scenario_conforms_step_by_step(scenario: Scenario) -> None:
    assert difference(scenario, cut="single") is None


# One of each template; `make conformance` cuts all of them, in both ways.
@named(one_of_each_template(SCENARIOS))
def test_scenario_conforms_however_batches_are_cut(scenario: Scenario) -> None:
    assert difference(scenario, cut=some_cut(scenario)) is None
