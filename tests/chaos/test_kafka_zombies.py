"""Of two instances of an application on Kafka the one that started last writes, and the other nothing."""

from __future__ import annotations

import shutil
import signal
from contextlib import ExitStack
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from brookmere.broker import Broker
from brookmere.errors import InstanceError, StateError
from tests.chaos.world import World

_PROGRAMS = ("stateless", "one_level")


@pytest.mark.slow
def test_instance_that_was_held_up_ends_when_another_one_has_taken_over(
    kafka: Broker, spark: SparkSession, tmp_path: Path
) -> None:
    world = World(kafka.bootstrap_servers, tmp_path, _PROGRAMS, "zombie-")
    world.feed(2000)

    with world.victim("first", max__batch__records=50) as first, ExitStack() as seconds:
        first.expect("running")
        for _ in range(5):
            first.expect("batch")
        first.signal(signal.SIGSTOP)
        shutil.copytree(tmp_path / "first", tmp_path / "second")
        running = [seconds.enter_context(world.application(name, "second")) for name in _PROGRAMS]
        world.feed(300)
        first.signal(signal.SIGCONT)
        found = [first.line("failed") for _ in _PROGRAMS]
        for application in running:
            application.process_all_available()

    for line in found:
        assert line is not None
        assert line.startswith("failed InstanceError: Another instance of the application 'zombie-chaos-")
    world.check()


@pytest.mark.slow
def test_second_instance_takes_over_from_one_that_works(
    kafka: Broker, spark: SparkSession, tmp_path: Path
) -> None:
    world = World(kafka.bootstrap_servers, tmp_path, ("one_level",), "second-")
    world.feed(300)
    first = world.application("one_level", "first")
    first.start()
    try:
        first.process_all_available()
        shutil.copytree(tmp_path / "first", tmp_path / "second")
        with world.victim("second") as second:
            second.expect("running")
            world.feed(300)
            with pytest.raises(InstanceError, match="has taken over"):
                first.process_all_available()
            second.finish()
            second.expect("done")
    finally:
        first.stop()

    assert first.state == "failed"
    world.check()


def test_state_directory_that_is_too_old_is_refused_and_the_newer_one_goes_on(
    kafka: Broker, spark: SparkSession, tmp_path: Path
) -> None:
    world = World(kafka.bootstrap_servers, tmp_path, ("one_level",), "older-")
    world.feed(300)
    with world.application("one_level", "first") as first:
        first.process_all_available()
        shutil.copytree(tmp_path / "first", tmp_path / "second")
        world.feed(300)
        first.process_all_available()

        with pytest.raises(StateError, match="The state directory is older than what the application"):
            world.application("one_level", "second").start()
        world.feed(300)
        first.process_all_available()

    world.check()
