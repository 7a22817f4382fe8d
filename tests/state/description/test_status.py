"""Checks the document that tells how an application is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from brookmere.errors import StateError
from brookmere.state.description.status import (
    InputStatus,
    NodeStatus,
    QueryableStatus,
    StageStatus,
    Status,
    read_status,
    write_status,
)

STATUS = Status(
    application="site",
    state="running",
    pid=7,
    started=1_000,
    time=2_000,
    batch=3,
    records=10,
    nodes=(NodeStatus("counter", 1, 10, 8, 2, 0, 1),),
    inputs=(InputStatus("views", (4, 6), (4, 8), 2, 1_500),),
    stages=(StageStatus(1, ("totals",), 5, 1_024),),
    stores=(QueryableStatus("totals", "key_value", "site-totals-changelog", True, True, 5, 100, 0),),
)


def test_a_status_comes_back_equal(tmp_path: Path) -> None:
    write_status(tmp_path, STATUS)

    assert read_status(tmp_path) == STATUS
    assert [path.name for path in tmp_path.iterdir()] == ["status.json"]


def test_there_is_no_status_before_the_first_start(tmp_path: Path) -> None:
    assert read_status(tmp_path) is None


def test_what_a_newer_version_adds_is_left_out() -> None:
    content = json.loads(STATUS.to_json())
    content["mood"] = "good"
    content["nodes"][0]["colour"] = "blue"

    assert Status.from_json(json.dumps(content)) == STATUS


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"nodes": 1}'])
def test_what_is_no_status_is_refused(text: str) -> None:
    with pytest.raises(StateError, match="cannot be read"):
        Status.from_json(text)
