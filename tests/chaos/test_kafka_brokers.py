"""Applications on three brokers write every record once while brokers are killed and come back."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from brookmere.broker import Broker
from tests.chaos.world import World

_KILLS = max(3, int(os.environ.get("BROOKMERE_KILLS", "8")) // 8)
_SEED = int(os.environ.get("BROOKMERE_SEED", "6"))


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Broker]:
    broker = Broker(tmp_path / "kafka", brokers=3, tied=True)
    broker.start()
    yield broker
    broker.kill()


@pytest.mark.slow
def test_killed_brokers_are_waited_out(cluster: Broker, spark: SparkSession, tmp_path: Path) -> None:
    programs = ("stateless", "one_level", "windows_and_joins")
    world = World(cluster.bootstrap_servers, tmp_path, programs, "brokers-")
    dice = random.Random(_SEED)
    world.feed(1000)

    with ExitStack() as stack:
        running = [stack.enter_context(world.application(name)) for name in programs]
        for _ in range(_KILLS):
            node = dice.choice(cluster.nodes)
            node.kill()
            world.feed(200)
            time.sleep(dice.uniform(0.0, 5.0))
            cluster.restart(node)
            time.sleep(dice.uniform(0.0, 2.0))
        for application in running:
            application.process_all_available()

    world.check()
