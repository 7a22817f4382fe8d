"""Small programs that the tests of this folder build and refuse."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import brookmere as bm
from brookmere.testing import TopologyTestDriver

SALES = "amount double, item string, n int, tags array<string>, at timestamp, price decimal(10,2)"


def sales(**defaults: bm.Serde) -> tuple[bm.StreamsBuilder, bm.KStream]:
    """Return a builder and its stream of sales, keyed by text."""
    app = bm.StreamsBuilder("shop", **{"key": bm.Text(), "value": bm.Json(SALES), **defaults})
    return app, app.stream("sales")


def faults_of(build: Callable[[bm.KStream], object]) -> list[bm.errors.Fault]:
    """Return why a program over the stream of sales cannot be compiled."""
    app, stream = sales()
    build(stream)
    with pytest.raises(bm.errors.ExpressionError) as caught:
        TopologyTestDriver(app)
    return caught.value.faults


def fault_of(build: Callable[[bm.KStream], object]) -> bm.errors.Fault:
    """Return the one reason why a program cannot be compiled."""
    (fault,) = faults_of(build)
    return fault
