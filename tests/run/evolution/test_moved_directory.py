"""A state directory can be moved."""

from __future__ import annotations

import pytest

import brookmere as bm
from tests.run.evolution.versions import count, put
from tests.run.homes import Home

pytestmark = pytest.mark.usefixtures("spark")


def test_state_directory_may_be_moved(home: Home) -> None:
    put(home, "in", ("a", "x", 1))
    home.run(count())
    put(home, "in", ("a", "x", 2))
    (home.directory / "state").rename(home.directory / "elsewhere")

    home.run(count(), state__dir=home.directory / "elsewhere")

    assert home.read("out", bm.Long()) == [1, 2]


def test_moved_state_directory_finishes_the_started_batch(home: Home) -> None:
    put(home, "in", ("a", "x", 1))
    home.run(count())
    put(home, "in", ("a", "x", 2))
    home.run(count())
    moved = (home.directory / "state").rename(home.directory / "elsewhere")
    (last,) = moved.glob("*/checkpoint/commits/1")
    last.unlink()

    put(home, "in", ("a", "x", 3))
    home.run(count(), state__dir=moved)

    assert home.read("out", bm.Long()) == [1, 2, 3]
