"""Every recorded scenario gives on the local engine what Kafka Streams gave."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from brookmere import UnsupportedError
from tests.conformance.build import NotYetError, build
from tests.conformance.runner import difference
from tests.conformance.scenario import Scenario, load

HERE = Path(__file__).parent
SCENARIOS = load(HERE / "scenarios")
NOT_YET = frozenset((HERE / "not_yet.txt").read_text(encoding="utf-8").split())


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


COVERED = [scenario for scenario in SCENARIOS if scenario.template not in NOT_YET]


def test_scenarios_are_found() -> None:
    assert COVERED


def test_list_of_what_is_not_there_yet_names_templates_in_order() -> None:
    listed = (HERE / "not_yet.txt").read_text(encoding="utf-8").split()

    assert listed == sorted(set(listed))
    assert set(listed) <= {scenario.template for scenario in SCENARIOS}


@named(COVERED)
def test_scenario_conforms_step_by_step(scenario: Scenario) -> None:
    assert difference(scenario, cut="single") is None


# One of each template; `make conformance` cuts all of them, in both ways.
@named(one_of_each_template(COVERED))
def test_scenario_conforms_however_batches_are_cut(scenario: Scenario) -> None:
    assert difference(scenario, cut=some_cut(scenario)) is None


@named([scenario for scenario in SCENARIOS if scenario.template in NOT_YET])
def test_scenario_that_is_not_covered_yet_fails(scenario: Scenario) -> None:
    try:
        build(scenario.data["topology"], optimize=scenario.optimize)
        conforms = difference(scenario) is None
    except (NotYetError, UnsupportedError):
        return

    if conforms:
        pytest.fail(f"{scenario.name} passes: unlist {scenario.template} in not_yet.txt")
