"""Programs of many operators are described as the real Kafka Streams described them.

Each file under recorded/ holds a program in the words of the conformance scenarios and the recorded text.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conformance.build import build

FILES = sorted((Path(__file__).parent / "recorded").glob("*.json"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_description_is_the_recorded_one(file: Path) -> None:
    recorded = json.loads(file.read_text())

    topology = build(recorded["topology"], optimize=recorded["optimize"])

    assert topology.describe().split("\n") == recorded["describe"]
