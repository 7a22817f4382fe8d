"""The short aggregates."""

from __future__ import annotations

from typing import Any

import pytest

import brookmere as bm
from brookmere.topology.function import Function
from brookmere.topology.validation import SHORT_KINDS


def test_every_kind_has_its_function() -> None:
    made = [bm.count(), bm.top_n("x", 1)] + [
        getattr(bm, kind)("x") for kind in SHORT_KINDS if kind not in ("count", "top_n")
    ]

    assert {short.kind for short in made} == set(SHORT_KINDS)


def test_field_may_be_a_function_of_the_value() -> None:
    assert isinstance(bm.sum(lambda value: value.price * value.amount).field, Function)


@pytest.mark.parametrize("n", [0, -1, 1.5, True])
def test_top_n_needs_a_positive_number(n: Any) -> None:
    with pytest.raises(bm.errors.TopologyError, match="at least 1"):
        bm.top_n("x", n)


def test_field_of_another_type_is_refused() -> None:
    with pytest.raises(bm.errors.TopologyError, match="must be a function"):
        bm.sum(3)  # type: ignore[arg-type]
