"""Positions: written, read, compared and merged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brookmere.state import Position

OFFSETS = st.dictionaries(st.integers(0, 3), st.integers(0, 5), max_size=3)
POSITIONS = st.dictionaries(st.sampled_from(["views", "totals", "ä"]), OFFSETS, max_size=3).map(Position)


@given(POSITIONS)
def test_a_position_comes_back_from_json(position: Position) -> None:
    again = Position.from_json(position.to_json())

    assert (again, hash(again)) == (position, hash(position))


@given(POSITIONS, POSITIONS)
def test_what_is_merged_covers_both(one: Position, other: Position) -> None:
    both = one.merged(other)

    assert both.covers(one)
    assert both.covers(other)
    assert both == other.merged(one)


@given(POSITIONS, POSITIONS)
def test_a_position_covers_another_if_that_adds_nothing(one: Position, other: Position) -> None:
    filled = {t: {p: at for p, at in offsets.items() if at} for t, offsets in one.items()}
    merged = {t: {p: at for p, at in offsets.items() if at} for t, offsets in one.merged(other).items()}

    assert one.covers(other) == (
        {t: o for t, o in filled.items() if o} == {t: o for t, o in merged.items() if o}
    )


@pytest.mark.parametrize(
    "text",
    ["", "[]", "1", '{"a": 1}', '{"a": {"x": 1}}', '{"a": {"0": -1}}', '{"a": {"0": 1.5}}',
     '{"a": {"0": true}}', '{"a": {"-1": 1}}', '{"a": {"0": null}}'],
)  # fmt: skip
def test_what_is_no_position_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any message of the parser is right
        Position.from_json(text)
