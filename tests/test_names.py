"""A wrong name is told with the known one that it stands for."""

from __future__ import annotations

import pytest

from brookmere.names import nearest


@pytest.mark.parametrize(
    ("name", "expected"),
    [("ofset", "offset"), ("OFFSET", "offset"), ("partitons", "partition"), ("zzz", None)],
)
def test_nearest_suggests_the_known_name_that_was_meant(name: str, expected: str | None) -> None:
    assert nearest(name, ["offset", "partition", "topic"]) == expected


def test_nearest_keeps_the_case_of_the_known_name() -> None:
    assert nearest("text", ["Text", "Long"]) == "Text"
