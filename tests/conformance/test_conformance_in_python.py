"""Scenarios with Python functions in the place of Columns give what Kafka Streams gave."""

from __future__ import annotations

from tests.conformance.runner import difference
from tests.conformance.scenario import Scenario
from tests.conformance.test_conformance import SCENARIOS, named, one_of_each_template, some_cut

_FOLDS = frozenset({"aggregate", "reduce", "cogroup"})
_FUNCTIONS = frozenset(
    {
        "filter", "filter_not", "map_values", "transform_values", "select_key", "map", "flat_map",
        "flat_map_values", "branch", "group_by",
    }
)  # fmt: skip
_EVERY_FOLD = 3
_EVERY_FUNCTION = 8
_EVERY_ON_SPARK = 60


def _with(operators: frozenset[str]) -> list[Scenario]:
    """Return one scenario of each template that has one of these operators."""
    return one_of_each_template(
        [s for s in SCENARIOS if operators & {entry["op"] for entry in s.data["topology"]}]
    )


# `make conformance` runs all of them.
@named(_with(_FOLDS)[::_EVERY_FOLD])
def test_aggregates_in_python_conform_through_restarts(scenario: Scenario) -> None:
    assert difference(scenario, cut=f"random:{scenario.seed}", python=True, restarts=True) is None


@named(_with(_FUNCTIONS - _FOLDS)[::_EVERY_FUNCTION])
def test_functions_in_python_conform_step_by_step(scenario: Scenario) -> None:
    assert difference(scenario, python=True) is None


@named(_with(_FUNCTIONS | _FOLDS)[::_EVERY_ON_SPARK])
def test_functions_in_python_conform_on_spark(scenario: Scenario) -> None:
    assert difference(scenario, engine="spark", cut=some_cut(scenario), python=True) is None
