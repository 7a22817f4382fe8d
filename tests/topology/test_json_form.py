"""The JSON form."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.topology.programs import any_function, builder, word_count

EXPECTED = Path(__file__).parent / "expected"


def test_word_count_as_json(expect_text: Callable[[Path, str], None]) -> None:
    expect_text(EXPECTED / "word_count.json", word_count().build().to_json() + "\n")


def test_router_takes_the_place_of_the_topic() -> None:
    app = builder()
    app.stream("in").to(any_function, router_name="by-country")

    sink = nodes(app.build().to_json())["KSTREAM-SINK-0000000001"]

    assert sink["router"] == "by-country"
    assert "topic" not in sink


def test_global_sub_topology_is_marked() -> None:
    app = builder()
    app.global_table("countries")

    assert json.loads(app.build().to_json())["subtopologies"][0]["global"] is True


def test_successors_stand_in_the_order_in_which_they_receive_records() -> None:
    app = builder()
    source = app.stream("in")
    source.to("out")
    source.filter(any_function).to("other")

    source_node = nodes(app.build().to_json())["KSTREAM-SOURCE-0000000000"]

    assert source_node["successors"] == ["KSTREAM-SINK-0000000001", "KSTREAM-FILTER-0000000002"]


def nodes(text: str) -> dict[str, Any]:
    return {node["name"]: node for part in json.loads(text)["subtopologies"] for node in part["nodes"]}
