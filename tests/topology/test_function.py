"""Functions remember where they were written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from brookmere.topology.function import function, here
from tests.topology.programs import builder


def times(factor: int) -> Callable[[Any], Any]:
    return lambda value: value * factor


def test_function_knows_its_file_and_line() -> None:
    made = function("test", lambda value: value)

    assert Path(made.location.file).name == Path(__file__).name
    assert made.location.line == here().line - 3


def test_functions_of_one_line_are_equal_if_they_see_equal_values() -> None:
    assert function("test", times(2)) == function("test", times(2))
    assert function("test", times(2)) != function("test", times(3))


def test_function_may_see_a_variable_that_gets_its_value_later() -> None:
    made = function("test", lambda value: later + value)
    later = 1

    assert made.call(later) == 2


def test_function_of_the_library_is_placed_at_the_call() -> None:
    app = builder()
    app.stream("in").group_by_key().count()

    locations = [node.location for node in app.build().nodes]

    assert {Path(location.file).name for location in locations if location} == {Path(__file__).name}
