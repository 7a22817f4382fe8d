"""bm.explain: from a program to its stages in one call."""

from __future__ import annotations

import json
import re

import pytest

import brookmere as bm
from brookmere.plan import explain, plan
from tests.plan.programs import PLANNED
from tests.topology.programs import builder, word_count


def test_program_and_topology_are_explained_alike() -> None:
    app = word_count()
    expected = explain(plan(app.build(), {"lines": 2}))

    assert bm.explain(app, partitions=2) == expected
    assert bm.explain(app.build(), partitions={"lines": 2}) == expected


def test_other_forms() -> None:
    app = PLANNED["chained"].build()

    assert json.loads(bm.explain(app, form="json"))["tasks"] == 1
    assert bm.explain(app, form="mermaid").startswith("flowchart TD")


def test_topics_of_a_pattern_must_be_named() -> None:
    app = builder()
    app.stream(re.compile("orders-.*")).to("out")

    assert "orders-a (3 partitions)" in bm.explain(app, partitions={"orders-a": 3})
    with pytest.raises(bm.errors.TopologyError, match="No topic matches pattern"):
        bm.explain(app)
