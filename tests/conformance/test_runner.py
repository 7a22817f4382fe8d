"""The runner itself: it notices whatever differs from a recording."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.conformance import __main__ as command
from tests.conformance.runner import difference
from tests.conformance.scenario import Scenario, load

SCENARIOS = Path(__file__).parent / "scenarios"
Change = Callable[[dict[str, Any]], object]


def _scenario(name: str) -> Scenario:
    [scenario] = load(SCENARIOS, name)
    return scenario


def _changed(name: str, change: Change) -> Scenario:
    scenario = _scenario(name)
    data = copy.deepcopy(dict(scenario.data))
    change(data)
    return Scenario(scenario.name, data)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda data: data["outputs"]["out"][2].update(value="x"), "out[2]: expected"),
        (lambda data: data["outputs"]["out"][2].update(key="x"), "out[2]: expected"),
        (lambda data: data["outputs"]["out"][2].update(ts=99), "out[2]: expected"),
        (lambda data: data["outputs"]["out"][2].update(after=99), "after step 99"),
        (lambda data: data["outputs"]["out"][2].update(headers=[["h", "1"]]), "headers h:'1'"),
        (lambda data: data["outputs"]["out"].pop(), "expected nothing more"),
        (lambda data: data["outputs"]["out"].append(data["outputs"]["out"][0]), "got nothing more"),
        (lambda data: data["stores"]["c-store"]["rows"].pop(), "store c-store: unexpected"),
        (lambda data: data["stores"]["c-store"]["rows"][0].update(ts=99), "store c-store: expected"),
        (lambda data: data.update(describe=data["describe"].replace("SINK", "WELL")), "describe line"),
    ],
)
def test_changed_expectation_is_noticed(change: Change, told: str) -> None:
    found = difference(_changed("aggregate/count-1", change))

    assert found is not None
    assert told in found


def test_failure_at_another_step_is_noticed() -> None:
    scenario = _changed("errors/function-throws-1", lambda data: data["error"].update(after=1))

    assert "expected at step 1" in str(difference(scenario))


def test_failure_that_does_not_come_is_noticed() -> None:
    scenario = _changed(
        "errors/function-throws-1", lambda data: data["topology"][1].update(fn="fail_on|never there")
    )

    assert "did not fail" in str(difference(scenario))


def test_program_that_should_be_refused_is_noticed() -> None:
    scenario = _changed("errors/operator-name-twice-1", lambda data: data["topology"][1].update(name="other"))

    assert "should be refused" in str(difference(scenario))


@pytest.mark.parametrize("cut", ["single", "whole", "random:1", "random:2"])
def test_cuts_keep_every_step_in_order(cut: str) -> None:
    scenario = _scenario("processors/punctuate-wall-clock-5-1")

    batches = list(scenario.batches(cut))

    steps = scenario.data["inputs"]
    clocks = [batch.wall_clock for batch in batches if batch.wall_clock is not None]
    fed = [(topic, record.timestamp) for batch in batches for topic, record in batch.records]
    assert clocks == [step["advance_wall_clock"] for step in steps if "advance_wall_clock" in step]
    assert fed == [(step["topic"], step["ts"]) for step in steps if "topic" in step]
    assert batches[0].first == 0
    assert all(left.last + 1 == right.first for left, right in pairwise(batches))


def test_command_prints_failures_and_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good = _scenario("stateless/filter-1")
    bad = _changed("stateless/filter-2", lambda data: data["outputs"]["out"].pop())
    for scenario in (good, bad):
        path = tmp_path / f"{scenario.name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(scenario.data), encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["conformance", str(tmp_path)])

    code = command.main()

    lines = capsys.readouterr().out.splitlines()
    assert code == 1
    assert lines[0].startswith("stateless/filter-2: out[")
    assert lines[-1] == "1 passed, 1 failed"
