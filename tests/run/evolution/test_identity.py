"""The identity of an application is stored with its state, and read at the next start."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from brookmere.errors import StateError
from brookmere.run.evolution.identity import Identity, StoreForm, has_positions, read_identity, write_identity

COUNTS = StoreForm(1, "auto", "string", "bigint", topics=("in",), clocks=("KSTREAM-AGGREGATE-0000000001",))
WORDS = Identity(
    "words", {"in": "a1"}, {"in": 2, "words-repartition": 2}, 1, {"counts": COUNTS}, {"counts-copy": (2, 3)}
)


def test_application_comes_back_as_it_was(tmp_path: Path) -> None:
    assert read_identity(tmp_path) is None
    write_identity(tmp_path, WORDS)

    assert read_identity(tmp_path) == WORDS
    assert [path.name for path in tmp_path.iterdir()] == ["application.json"]


def test_what_an_earlier_version_did_not_know_has_a_default(tmp_path: Path) -> None:
    store = {"stage": 1, "kind": "auto", "key": "string", "value": "bigint"}
    content = {"format": 1, "application": "words", "topics": {}, "partitions": {}, "stages": 1}
    (tmp_path / "application.json").write_text(json.dumps({**content, "stores": {"counts": store}}))

    found = read_identity(tmp_path)

    assert found is not None
    assert found.checkpoint == "checkpoint"
    assert found.stores["counts"] == StoreForm(1, "auto", "string", "bigint")


def test_checkpoint_without_an_identity_is_refused(tmp_path: Path) -> None:
    (tmp_path / "checkpoint").mkdir()
    (tmp_path / "checkpoint" / "metadata").write_text("{}")

    with pytest.raises(StateError, match=r"which describes it, does not"):
        read_identity(tmp_path)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"application": "words"}'])
def test_unreadable_identity_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "application.json").write_text(content)

    with pytest.raises(StateError, match="cannot be read"):
        read_identity(tmp_path)


def test_positions_are_there_after_the_first_batch(tmp_path: Path) -> None:
    assert not has_positions(tmp_path)
    (tmp_path / "offsets").mkdir()
    assert not has_positions(tmp_path)
    (tmp_path / "offsets" / "0").write_text("")
    assert has_positions(tmp_path)
