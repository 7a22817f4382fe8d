"""Scenarios of every third template give on a real Spark query what Kafka Streams gave."""

from __future__ import annotations

import zlib

from tests.conformance.runner import difference
from tests.conformance.scenario import Scenario
from tests.conformance.test_conformance import COVERED, named

_EVERY = 3


def _lowest_seeds(scenarios: list[Scenario]) -> list[Scenario]:
    lowest: dict[str, Scenario] = {}
    for scenario in sorted(scenarios, key=lambda scenario: scenario.seed):
        lowest.setdefault(scenario.template, scenario)
    # A query takes seconds. `make conformance` runs all of them.
    return [lowest[template] for template in sorted(lowest)[::_EVERY]]


def _cut(scenario: Scenario) -> str:
    # About half of the scenarios in one micro-batch, the others in several; always the same ones.
    return "whole" if zlib.crc32(scenario.name.encode()) % 2 else "random:1"


@named(_lowest_seeds(COVERED))
def test_scenario_conforms_on_spark(scenario: Scenario) -> None:
    assert difference(scenario, engine="spark", cut=_cut(scenario)) is None
