"""What happens to each store follows from the previous and the new version of a program."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brookmere.errors import StateError
from brookmere.run.evolution.comparison import compare
from brookmere.run.evolution.identity import Identity, StoreForm

COUNTS = StoreForm(
    stage=1, kind="auto", key="string", value="bigint", operator="Aggregate", topics=("in",), partitions=2,
    clocks=("KSTREAM-AGGREGATE-0000000001",), print="p1",
)  # fmt: skip
WINDOWS = replace(COUNTS, holds="window", rows="window", retention=1000, windows="TimeWindows(size_ms=10)")
WORDS = Identity("words", {"in": "a1"}, {"in": 2}, 1, {"counts": COUNTS}, tasks=2)
FIRST, SECOND = "KSTREAM-AGGREGATE-STATE-STORE-0000000003", "KSTREAM-AGGREGATE-STATE-STORE-0000000007"


def having(**stores: StoreForm) -> Identity:
    return replace(WORDS, stores=stores)


def outcomes(before: Identity, now: Identity) -> dict[str, str]:
    return {finding.store: str(finding) for finding in compare(before, now).findings}


def test_nothing_changes() -> None:
    same = compare(WORDS, WORDS)

    assert outcomes(WORDS, WORDS) == {"counts": "kept"}
    assert same.is_possible
    assert not same.changes
    assert not same.needs_move


@pytest.mark.parametrize(
    ("now", "told", "needs_move"),
    [
        (having(counts=replace(COUNTS, print="p2")), "kept", False),
        (having(counts=replace(COUNTS, clocks=("KSTREAM-AGGREGATE-0000000002",))), "kept", False),
        (having(counts=replace(COUNTS, stage=2)), "moved; from stage 1 to stage 2", True),
        (having(counts=replace(COUNTS, kind="rocksdb")), "converted; from auto to rocksdb", True),
        (replace(WORDS, stages=2), "kept", True),
        (replace(WORDS, copies={"counts-copy": (2,)}), "kept", True),
        (replace(WORDS, tasks=4), "kept", False),
    ],
)
def test_store_keeps_its_state(now: Identity, told: str, needs_move: bool) -> None:
    found = compare(WORDS, now)

    assert str(found.findings[0]) == told
    assert found.is_possible
    assert found.needs_move == needs_move


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"retention": 500}, "converted; retention 500 ms instead of 1000 ms: older rows are removed"),
        (
            {"retention": 2**63 - 1},
            "converted; retention unlimited instead of 1000 ms: removed rows do not come back",
        ),
        ({"timed": True}, "converted; its rows are indexed by time"),
        ({"clocks": ("other",)}, "kept"),
    ],
)
def test_windows_keep_their_state(changes: dict[str, Any], told: str) -> None:
    found = compare(having(w=WINDOWS), having(w=replace(WINDOWS, **changes)))

    assert str(found.findings[0]) == told
    assert found.is_possible
    assert found.needs_move


def test_stores_come_and_go() -> None:
    more = replace(COUNTS, topics=("new",))
    found = compare(WORDS, replace(WORDS, stores={"more": more, "again": COUNTS}))

    assert {f.store: str(f) for f in found.findings} == {
        "more": "new and empty",
        "again": "new and empty; earlier records of in are not in it",
        "counts": "dropped; the program no longer has it; if it comes back, it starts empty",
    }
    assert found.needs_move
    assert not compare(WORDS, having(counts=COUNTS, more=more)).needs_move


@pytest.mark.parametrize(
    ("was", "changes", "found"),
    [
        (COUNTS, {"value": "string"}, "it has values of bigint, but the program needs string"),
        (COUNTS, {"key": "int"}, "it has keys of string, but the program needs int"),
        (
            COUNTS,
            {"holds": "window", "rows": "window"},
            "it holds key value rows, but the program needs windows",
        ),
        (
            WINDOWS,
            {"windows": "TimeWindows(size_ms=20)"},
            "its rows are of TimeWindows(size_ms=10), but the program needs TimeWindows(size_ms=20)",
        ),
        (COUNTS, {"is_global": True}, "it holds rows by partition, but the program needs a global table"),
        (
            COUNTS,
            {"partitions": 4},
            "its rows are spread over 2 partitions, but the program spreads them over 4",
        ),
    ],
)
def test_store_that_does_not_fit_is_refused(
    was: StoreForm, changes: dict[str, Any], found: str, tmp_path: Path
) -> None:
    evolution = compare(having(s=was), having(s=replace(was, **changes)))

    with pytest.raises(StateError) as caught:
        evolution.check(tmp_path)

    assert str(caught.value) == (
        f"The application 'words' cannot use the state in {tmp_path}. Found: the store 's': {found}. "
        "Give the result a new name with store= instead of 's'. "
        "Nothing was changed: the previous version can still run."
    )


@pytest.mark.parametrize(
    ("now", "found"),
    [
        (replace(WORDS, application="lines"), "it belongs to the application 'words'"),
        (replace(WORDS, topics={"in": "a2"}), "the topic 'in' was deleted and recreated"),
        (replace(WORDS, partitions={"in": 4}), "the topic 'in' had 2 partitions and now has 4"),
    ],
)
def test_state_that_does_not_fit_is_refused_with_a_way_out(tmp_path: Path, now: Identity, found: str) -> None:
    with pytest.raises(StateError) as caught:
        compare(WORDS, now).check(tmp_path)

    text = str(caught.value)
    assert f"cannot use the state in {tmp_path}. Found: {found}" in text
    assert "start from scratch under another application.id or without this directory" in text


def test_topic_may_grow_where_there_is_no_state() -> None:
    stateless = replace(WORDS, stores={}, stages=0)

    assert compare(stateless, replace(stateless, partitions={"in": 4}, tasks=4)).is_possible


def test_join_with_other_windows_keeps_its_buffers() -> None:
    buffer = replace(WINDOWS, holds="join_window", rows="items", windows="JoinWindows(before_ms=1)")

    assert compare(
        having(b=buffer), having(b=replace(buffer, windows="JoinWindows(before_ms=2)"))
    ).is_possible


def test_unnamed_store_is_found_by_what_keeps_and_feeds_it() -> None:
    other = replace(COUNTS, print="p2")
    before = having(**{FIRST: COUNTS, SECOND: other})

    # The first is gone, and the second has its number.
    found = compare(before, having(**{FIRST: other}))

    assert [(f.store, str(f)) for f in found.findings] == [
        (FIRST, f"renamed; it was named {SECOND}"),
        (FIRST, "dropped; the operator that had this store was removed"),
    ]
    assert found.pairs == {FIRST: SECOND}
    assert found.needs_move


def test_unnamed_store_that_gets_a_name_keeps_its_state() -> None:
    found = compare(having(**{FIRST: COUNTS}), having(counts=COUNTS))

    assert found.pairs == {"counts": FIRST}
    assert [str(f) for f in found.findings] == [f"renamed; it was named {FIRST}"]


def test_unnamed_store_with_another_function_keeps_its_state_by_its_number() -> None:
    found = compare(having(**{FIRST: COUNTS}), having(**{FIRST: replace(COUNTS, print="p2")}))

    assert [str(f) for f in found.findings] == ["kept"]


def test_unnamed_stores_that_are_alike_belong_together_by_their_numbers() -> None:
    both = having(**{FIRST: COUNTS, SECOND: COUNTS})

    assert compare(both, both).pairs == {FIRST: FIRST, SECOND: SECOND}


def test_unnamed_stores_that_are_alike_are_refused_when_one_was_removed() -> None:
    found = compare(having(**{FIRST: COUNTS, SECOND: COUNTS}), having(**{FIRST: COUNTS}))

    assert [f.outcome for f in found.findings] == ["refused"]


def test_unnamed_store_never_takes_over_what_another_operator_kept() -> None:
    other = replace(COUNTS, operator="TableSource", print="p2")
    found = compare(having(**{FIRST: COUNTS}), having(**{FIRST: other}))

    assert found.pairs == {}
    assert sorted(f.outcome for f in found.findings) == ["dropped", "new"]


def test_unnamed_store_in_doubt_is_refused(tmp_path: Path) -> None:
    found = compare(having(**{FIRST: COUNTS}), having(**{SECOND: replace(COUNTS, print="p2")}))

    with pytest.raises(StateError) as caught:
        found.check(tmp_path)

    assert f"the store {SECOND!r}: it may have been {FIRST}" in str(caught.value)
    assert "Name the unnamed stores with store= or name= in the previous version" in str(caught.value)
    # With a name of its own it is another store.
    assert compare(having(**{FIRST: COUNTS}), having(fresh=replace(COUNTS, print="p2"))).is_possible
