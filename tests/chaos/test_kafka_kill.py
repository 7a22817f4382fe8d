"""A process on Kafka that is killed at random points writes every record once."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from brookmere.broker import Broker
from tests.chaos.process import Victim
from tests.chaos.world import World

_KILLS = int(os.environ.get("BROOKMERE_KILLS", "8"))
"""As many as there are points; `make chaos` kills 100 times."""
_SEED = int(os.environ.get("BROOKMERE_SEED", "6"))
_FED = 300
"""Records that come in before a start, and as many again when it runs."""
_MOST_SECONDS = 0.5
"""About as long as a batch takes."""
_POINTS = {"begun": 30, "sending": 600, "sent": 30, "marked": 36, "committed": 30, "written": 15}
"""Points in the life of a batch, and how often at most they are passed before the process ends there."""


@pytest.mark.slow
def test_killed_applications_lose_nothing_and_write_nothing_twice(
    kafka: Broker, spark: SparkSession, tmp_path: Path
) -> None:
    programs = ("stateless", "one_level", "windows_and_joins")
    world = World(kafka.bootstrap_servers, tmp_path, programs, "kill-")
    dice = random.Random(_SEED)

    kills = 0
    points = [*_POINTS, "anywhere", "anywhere"]
    while kills < _KILLS:
        point = points[kills % len(points)]
        halts = f"halt:{point}:{dice.randint(1, _POINTS[point])}" if point in _POINTS else None
        world.feed(_FED)
        with world.victim(halts=halts) as victim:
            if _is_killed(victim, world, dice, by_itself=halts is not None):
                kills += 1
    with world.victim() as victim:
        victim.finish()
        victim.expect("done")

    world.check()


def _is_killed(victim: Victim, world: World, dice: random.Random, *, by_itself: bool) -> bool:
    """Let records come in while it runs, and kill it some batches later, unless it ends by itself."""
    batches = dice.randint(0, 12)
    pause = dice.uniform(0.0, _MOST_SECONDS)
    victim.line("started" if batches == 0 else "running", "failed")
    world.feed(_FED)
    victim.finish()
    if by_itself:
        return victim.line("done") is None
    for _ in range(batches):
        victim.line("batch")
    time.sleep(pause)
    victim.kill()
    return victim.line("done") is None
