"""What the tests on Kafka share."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from brookmere.broker import Broker
from brookmere.topics.kafka import KafkaTopics

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.kafka.streams import Sides


@pytest.fixture
def name(request: pytest.FixtureRequest) -> Callable[[str], str]:
    """Names of topics, groups and applications that no other test has."""
    mark = f"{zlib.crc32(request.node.nodeid.encode()):08x}"
    return lambda short: f"{short}-{mark}"


@pytest.fixture
def sides(kafka: Broker, spark: SparkSession, tmp_path: Path) -> Sides:
    """Kafka Streams and Brookmere on the same Kafka."""
    from tests.kafka.streams import Sides

    return Sides(KafkaTopics({"bootstrap.servers": kafka.bootstrap_servers}), tmp_path)
