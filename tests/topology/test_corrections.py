"""Corrections: names that a program gives, and what they become."""

from __future__ import annotations

import pytest

import brookmere as bm
from brookmere.topology.corrections import ALL, corrections_of


def test_no_name_is_no_correction() -> None:
    assert corrections_of(()) == frozenset()


def test_all_stands_for_each() -> None:
    assert corrections_of(["all"]) == frozenset(ALL)
    assert corrections_of("all") == frozenset(ALL)


def test_one_name_may_stand_alone() -> None:
    assert corrections_of("window-null-values") == {"window-null-values"}


def test_unknown_names_are_refused_all_together_with_the_nearest() -> None:
    with pytest.raises(bm.errors.TopologyError) as caught:
        bm.StreamsBuilder("app", corrections=["window-null-value", "peace"])

    first, second = caught.value.faults
    assert first.what == "There is no correction 'window-null-value'"
    assert first.remedy == "Did you mean 'window-null-values'?"
    assert "join-late-records" in second.remedy


def test_what_is_no_name_is_refused() -> None:
    with pytest.raises(bm.errors.TopologyError, match="corrections are names, found 1"):
        corrections_of(1)  # type: ignore[arg-type]
