"""An interrupted migration leaves one state intact, and no record counts twice."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import brookmere as bm
from brookmere.run.evolution import migration
from tests.run.evolution.versions import count, identity, put, repartitioned
from tests.run.homes import Home

pytestmark = pytest.mark.usefixtures("spark")


def test_batch_that_has_written_must_be_finished_by_its_own_version(home: Home) -> None:
    put(home, "in", ("a", "x", 1))
    checkpoint = home.run(count()).state_directory / "checkpoint"
    # The process was killed when the records of the batch were in the topic, and the batch not finished.
    (checkpoint / "commits" / "0").unlink()
    put(home, "in", ("a", "x", 2))

    with pytest.raises(bm.errors.StateError) as caught:
        home.application(repartitioned()).start()
    text = str(caught.value)
    assert "batch 0 of the previous version has written to the topic 'changing-counts-" in text
    assert "but is not finished" in text
    assert "Start the previous version once" in text
    home.run(count())
    home.run(repartitioned())

    assert home.read("out", bm.Long()) == [1, 2]


def test_batch_that_has_written_nothing_is_repeated(home: Home) -> None:
    put(home, "in", ("a", "x", 1))
    checkpoint = home.run(count()).state_directory / "checkpoint"
    shutil.copy(checkpoint / "offsets" / "0", checkpoint / "offsets" / "1")
    put(home, "in", ("a", "x", 2))

    home.run(repartitioned())

    assert home.read("out", bm.Long()) == [1, 2]


@pytest.mark.parametrize("point", ["write_identity", "sweep"])
def test_interrupted_migration_leaves_one_state_intact(
    home: Home, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    put(home, "in", ("a", "x", 1))
    home.run(count())
    put(home, "in", ("a", "x", 2))
    calls: list[int] = []
    original = getattr(migration, point)

    def dies(*arguments: Any) -> None:
        calls.append(1)
        # The first sweep is the one before the move.
        if point == "write_identity" or len(calls) == 2:
            raise KeyboardInterrupt
        original(*arguments)

    monkeypatch.setattr(migration, point, dies)
    with pytest.raises(KeyboardInterrupt):
        home.application(repartitioned()).start()
    monkeypatch.undo()
    directory = home.directory / "state" / "changing"
    assert {p.name for p in directory.glob("checkpoint*")} == {"checkpoint", "checkpoint-2"}
    is_new = point == "sweep"
    assert identity(home)["checkpoint"] == ("checkpoint-2" if is_new else "checkpoint")

    home.run(repartitioned() if is_new else count())

    assert home.read("out", bm.Long()) == [1, 2]
    assert len(list(directory.glob("checkpoint*"))) == 1


VICTIM = """
import os, signal, sys
from brookmere.run.evolution import migration
from tests.run.evolution.versions import repartitioned
from tests.run.homes import Home

migration.write_identity = lambda *arguments: os.kill(os.getpid(), signal.SIGKILL)
Home(migration.Path(sys.argv[1])).run(repartitioned())
"""


@pytest.mark.slow
def test_process_killed_during_a_migration_leaves_the_old_state(home: Home) -> None:
    put(home, "in", ("a", "x", 1))
    home.run(count())
    put(home, "in", ("a", "x", 2))
    root = Path(__file__).resolve().parents[3]
    process = subprocess.Popen(
        [sys.executable, "-c", VICTIM, str(home.directory)], cwd=root, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert process.wait(240) == -signal.SIGKILL
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    directory = home.directory / "state" / "changing"
    assert (directory / "checkpoint-2" / "commits" / "0").exists()

    home.run(repartitioned())

    assert home.read("out", bm.Long()) == [1, 2]
    assert [path.name for path in directory.glob("checkpoint*")] == ["checkpoint-2"]
