"""A state directory is used by the application that made it, as long as its state fits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brookmere.errors import StateError
from brookmere.run.identity import Identity, StoreForm, claim, has_positions

COUNTS = StoreForm(1, "auto", "string", "bigint")
WORDS = Identity("words", {"in": "a1"}, {"in": 2, "words-repartition": 2}, 1, {"counts": COUNTS})


def with_store(**changes: Any) -> Identity:
    return replace(WORDS, stores={"counts": replace(COUNTS, **changes)})


def test_application_may_come_back(tmp_path: Path) -> None:
    claim(tmp_path, tmp_path / "checkpoint", WORDS)
    (tmp_path / "checkpoint").mkdir()
    (tmp_path / "checkpoint" / "metadata").write_text("{}")

    claim(tmp_path, tmp_path / "checkpoint", WORDS)


def test_topics_may_come_and_go(tmp_path: Path) -> None:
    claim(tmp_path, tmp_path / "checkpoint", WORDS)
    claim(tmp_path, tmp_path / "checkpoint", Identity("words", {"more": "b1"}, {"more": 3}, 1, {}))
    claim(tmp_path, tmp_path / "checkpoint", WORDS)


@pytest.mark.parametrize(
    ("now", "found"),
    [
        (replace(WORDS, application="lines"), "it belongs to the application 'words'"),
        (replace(WORDS, topics={"in": "a2"}), "the topic 'in' was deleted and created again"),
        (
            replace(WORDS, partitions={"in": 2, "words-repartition": 4}),
            "'words-repartition' had 2 partitions and now has 4",
        ),
        (replace(WORDS, stages=0), "the program ran in 1 stages with state and now runs in 0"),
        (
            with_store(value="string"),
            "the store 'counts' has values of bigint, and the program needs string",
        ),
        (with_store(key="int"), "the store 'counts' has keys of string, and the program needs int"),
        (with_store(stage=2), "the store 'counts' has moved from stage 1 to stage 2"),
        (
            with_store(kind="rocksdb"),
            "the store 'counts' is of the kind auto, and the program asks for rocksdb",
        ),
        (
            with_store(kind="memory"),
            "the store 'counts' is of the kind auto, and the program asks for memory",
        ),
    ],
)
def test_state_that_does_not_fit_is_refused_with_a_way_out(tmp_path: Path, now: Identity, found: str) -> None:
    claim(tmp_path, tmp_path / "checkpoint", WORDS)

    with pytest.raises(StateError) as caught:
        claim(tmp_path, tmp_path / "checkpoint", now)

    text = str(caught.value)
    assert f"cannot go on with the state in {tmp_path}. Found: {found}" in text
    assert "begin anew under another application.id or without this directory" in text
    claim(tmp_path, tmp_path / "checkpoint", WORDS)


def test_stores_may_come_and_go_and_one_in_memory_may_grow(tmp_path: Path) -> None:
    claim(tmp_path, tmp_path / "checkpoint", with_store(kind="memory"))
    claim(tmp_path, tmp_path / "checkpoint", replace(WORDS, stores={"counts": COUNTS, "more": COUNTS}))
    claim(tmp_path, tmp_path / "checkpoint", replace(WORDS, stores={"more": COUNTS}))


def test_topic_that_is_created_again_is_noticed_after_a_pause(tmp_path: Path) -> None:
    claim(tmp_path, tmp_path / "checkpoint", WORDS)
    claim(tmp_path, tmp_path / "checkpoint", replace(WORDS, topics={"more": "b1"}))

    with pytest.raises(StateError, match="deleted and created again"):
        claim(tmp_path, tmp_path / "checkpoint", replace(WORDS, topics={"in": "a2"}))


def test_checkpoint_of_nobody_is_refused(tmp_path: Path) -> None:
    (tmp_path / "checkpoint").mkdir()
    (tmp_path / "checkpoint" / "metadata").write_text("{}")

    with pytest.raises(StateError, match=r"which tells whose it is, is not"):
        claim(tmp_path, tmp_path / "checkpoint", WORDS)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"application": "words"}'])
def test_unreadable_identity_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "application.json").write_text(content)

    with pytest.raises(StateError, match="cannot be read"):
        claim(tmp_path, tmp_path / "checkpoint", WORDS)


def test_positions_are_there_after_the_first_batch(tmp_path: Path) -> None:
    assert not has_positions(tmp_path)
    (tmp_path / "offsets").mkdir()
    assert not has_positions(tmp_path)
    (tmp_path / "offsets" / "0").write_text("")
    assert has_positions(tmp_path)
