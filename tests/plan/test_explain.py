"""The texts that explain a plan, compared with checked-in files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import brookmere as bm
from brookmere.plan import explain, plan, to_json, to_mermaid
from tests.plan.programs import PLANNED
from tests.topology.programs import builder

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


def test_explanation_tells_what_the_rules_have_changed() -> None:
    app = builder()
    app.table("in", store="kept")
    what = "kept is restored from the topic in"

    text = bm.explain(app, optimization="all")
    document = json.loads(bm.explain(app, optimization="all", form="json"))

    assert text.endswith(f"\n\nOptimized by\n  reuse.ktable.source.topics: {what}\n")
    assert document["optimized"] == [{"rule": "reuse.ktable.source.topics", "what": what}]
    assert "Optimized" not in bm.explain(app)
