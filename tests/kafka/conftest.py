"""What the tests on Kafka share: one real broker for the whole test run."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator

import pytest

from brookmere.broker import Broker


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A running Kafka with one broker; it ends with the test run, even if that is killed."""
    broker = Broker(tmp_path_factory.mktemp("kafka"), tied=True)
    broker.start()
    yield broker
    broker.kill()


@pytest.fixture
def name(request: pytest.FixtureRequest) -> Callable[[str], str]:
    """Names of topics, groups and applications that no other test has."""
    mark = f"{zlib.crc32(request.node.nodeid.encode()):08x}"
    return lambda short: f"{short}-{mark}"
