"""What the tests on Kafka share."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import pytest


@pytest.fixture
def name(request: pytest.FixtureRequest) -> Callable[[str], str]:
    """Names of topics, groups and applications that no other test has."""
    mark = f"{zlib.crc32(request.node.nodeid.encode()):08x}"
    return lambda short: f"{short}-{mark}"
