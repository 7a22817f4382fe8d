"""What the tests on Kafka share."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from brookmere.broker import Broker
from tests.kafka.homes import KafkaHome, Name


@pytest.fixture
def name(request: pytest.FixtureRequest) -> Name:
    """Names of topics, groups and applications that no other test has."""
    mark = f"{zlib.crc32(request.node.nodeid.encode()):08x}"
    return lambda short: f"{short}-{mark}"


@pytest.fixture
def home(kafka: Broker, tmp_path: Path, name: Name) -> KafkaHome:
    return KafkaHome(kafka, tmp_path, name)
