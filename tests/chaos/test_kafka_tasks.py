"""Tasks on Kafka that fail and are tried again by Spark write every record once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from brookmere.broker import Broker
from tests.chaos.world import World

_SEED = int(os.environ.get("BROOKMERE_SEED", "6"))
_CHANCE = 0.06


@pytest.mark.slow
def test_tasks_that_fail_are_done_again_without_loss_or_repetition(
    kafka: Broker, spark: SparkSession, tmp_path: Path
) -> None:
    programs = ("stateless", "one_level", "windows_and_joins")
    world = World(kafka.bootstrap_servers, tmp_path, programs, "tasks-")
    world.feed(1500)

    with world.victim(halts=f"fail:{_SEED}:{_CHANCE}", spark__master="local[2,20]") as victim:
        victim.finish()
        victim.expect("done")

    log = (tmp_path / "state" / "tasks-chaos-plain" / "spark.log").read_text(errors="replace")
    assert log.count("A test makes a task fail at the point") > 10
    world.check()
