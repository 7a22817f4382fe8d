"""What the tests on Kafka share."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from brookmere.broker import Broker
from brookmere.topics.kafka import KafkaTopics
from tests.kafka.homes import KafkaHome, Name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.kafka.secured import Secured
    from tests.kafka.streams import Sides


@pytest.fixture
def name(request: pytest.FixtureRequest) -> Name:
    """Names of topics, groups and applications that no other test has."""
    mark = f"{zlib.crc32(request.node.nodeid.encode()):08x}"
    return lambda short: f"{short}-{mark}"


@pytest.fixture
def home(kafka: Broker, tmp_path: Path, name: Name) -> KafkaHome:
    return KafkaHome(kafka, tmp_path, name)


@pytest.fixture
def sides(kafka: Broker, spark: SparkSession, tmp_path: Path) -> Sides:
    """Kafka Streams and Brookmere on the same Kafka."""
    from tests.kafka.streams import Sides

    return Sides(KafkaTopics({"bootstrap.servers": kafka.bootstrap_servers}), tmp_path)


@pytest.fixture(scope="session")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """A running Kafka with TLS, logins and rights; it ends with the test run."""
    from tests.kafka.secured import Secured

    made = Secured(tmp_path_factory.mktemp("secured"))
    made.broker.start()
    yield made
    made.broker.kill()
