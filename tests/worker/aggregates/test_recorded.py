"""Aggregates in the worker give what Kafka Streams gave, for every cut and after restarts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conformance.scenario import Scenario, load
from tests.worker.aggregates.recorded import is_one_aggregate, stage
from tests.worker.jvm import Answer, Fed, Jvm

RECORDINGS = Path(__file__).parents[2] / "conformance" / "scenarios"
CHOSEN = [scenario for scenario in load(RECORDINGS) if is_one_aggregate(scenario)]

Row = tuple[Any, Any, int, list[tuple[str, str]]]


def test_there_are_such_recordings() -> None:
    assert len(CHOSEN) > 200


@pytest.mark.parametrize("scenario", CHOSEN, ids=[scenario.name for scenario in CHOSEN])
@pytest.mark.parametrize("way", ["one batch", "chunks of 3", "a restart after each record"])
def test_recorded_results(scenario: Scenario, way: str) -> None:
    jvm = Jvm(stage(scenario))
    records = [_fed(step) for step in scenario.data["inputs"] if "topic" in step]

    if way == "a restart after each record":
        written = []
        for record in records:
            written += _rows(jvm.batch(record))
            jvm.restart()
    else:
        written = _rows(jvm.batch(*records, cut=3 if way == "chunks of 3" else None))

    (expected,) = scenario.data["outputs"].values()
    assert written == [_recorded(row) for row in expected]


def _fed(step: dict[str, Any]) -> Fed:
    headers = [(name, text.encode()) for name, text in step.get("headers", ())]
    return Fed(step["key"], step["value"], step["ts"], headers=headers or None)


def _rows(answer: Answer) -> list[Row]:
    assert not answer.errors
    return [
        (
            _text(sent.key),
            sent.value[0],
            sent.ts,
            [(name, data.decode()) for name, data in sent.headers or ()],
        )
        for sent in answer.sent
    ]


def _recorded(row: dict[str, Any]) -> Row:
    return row["key"], row["value"], row["ts"], [(name, text) for name, text in row.get("headers", ())]


def _text(key: Any) -> str:
    return f"{key[0]}@{key[1]}/{key[2]}" if isinstance(key, tuple | list) else key
