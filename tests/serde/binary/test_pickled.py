from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

import brookmere as bm
from brookmere.serde import BadBytes


@dataclass
class Seen:
    names: set[str]


@pytest.mark.parametrize("value", [None, 1, "text", {"a": [1, 2]}, Seen({"ada"}), (1, {2})])
def test_every_object_returns(value: Any) -> None:
    assert bm.Pickled().deserialize(bm.Pickled().serialize(value)) == value


@pytest.mark.parametrize("data", [b"", b"no pickle", b"\x80\x05cno_such_module\nThing\n."])
def test_bytes_that_are_no_object_are_refused(data: bytes) -> None:
    with pytest.raises(BadBytes, match="not a pickled object"):
        bm.Pickled().deserialize(data)
