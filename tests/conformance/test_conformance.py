"""Every recorded scenario gives on the local engine what Kafka Streams gave."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from tests.conformance.runner import difference
from tests.conformance.scenario import Scenario, load

SCENARIOS = load(Path(__file__).parent / "scenarios")
_CUTS = ("single", "whole", "random:{}")


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


def _cuts() -> list[tuple[Scenario, str]]:
    """Return every scenario with a cut, such that each template is cut in all three ways.

    The scenarios of a template differ in their records only, so its first one runs step by step, the next
    in one batch and the next in random batches. `make conformance` cuts every scenario in every way.
    """
    templates: dict[str, list[Scenario]] = {}
    for scenario in sorted(SCENARIOS, key=lambda scenario: scenario.seed):
        templates.setdefault(scenario.template, []).append(scenario)
    chosen = []
    for scenarios in templates.values():
        for number in range(max(len(scenarios), len(_CUTS))):
            scenario = scenarios[number % len(scenarios)]
            chosen.append((scenario, _CUTS[number % len(_CUTS)].format(scenario.seed)))
    return chosen


@pytest.mark.parametrize(
    ("scenario", "cut"), _cuts(), ids=[f"{scenario.name}-{cut}" for scenario, cut in _cuts()]
)
def test_scenario_conforms_however_batches_are_cut(scenario: Scenario, cut: str) -> None:
    assert difference(scenario, cut=cut) is None
