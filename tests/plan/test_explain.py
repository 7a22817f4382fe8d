"""The texts that explain a plan, compared with checked-in files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from brookmere.plan import explain, plan, to_json, to_mermaid
from tests.plan.programs import PLANNED

EXPECTED = Path(__file__).parent / "expected"


@pytest.mark.parametrize("name", PLANNED)
def test_plan_is_explained(name: str, expect_text: Callable[[Path, str], None]) -> None:
    planned = PLANNED[name]

    text = explain(plan(planned.build().build(), planned.partitions))

    expect_text(EXPECTED / f"{name}.txt", text)


def test_plan_is_drawn(expect_text: Callable[[Path, str], None]) -> None:
    planned = PLANNED["mixed"]

    expect_text(EXPECTED / "mixed.mmd", to_mermaid(plan(planned.build().build(), planned.partitions)))


def test_plan_has_a_json_form() -> None:
    planned = PLANNED["table_and_global"]

    document = json.loads(to_json(plan(planned.build().build(), planned.partitions)))

    assert document["application"] == "tables"
    assert document["tasks"] == 2
    assert [stage["number"] for stage in document["stages"]] == [0, 1, 2]
    assert document["stages"][2]["stores"] == [{"name": "per-group", "type": "memory"}]
    assert document["partitions"]["people"] == 1
