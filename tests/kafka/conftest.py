"""What the tests on Kafka share: one real broker for the whole test run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from brookmere.broker import Broker


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A running Kafka with one broker; it ends with the test run, even if that is killed."""
    broker = Broker(tmp_path_factory.mktemp("kafka"), tied=True)
    broker.start()
    yield broker
    broker.kill()
