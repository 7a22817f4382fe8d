"""`replica` follows the changelogs of an application until it is stopped, and resumes from its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from brookmere.state.rows.key_rows import KeyRows
from brookmere.state.rows.layout import TIME
from brookmere.state.rows.rocksdb import Files
from tests.cli.conftest import COUNT, Run
from tests.cli.worlds import INFOS, World, interrupt, started, wait_for


@pytest.fixture
def world(folder: Path) -> World:
    return World(folder)


def kept(world: World, name: str) -> dict[str, int]:
    """Return the counts that a replica has in its files."""
    files = Files(world.state / "replicas" / name / "counts", KeyRows.tables)
    found = {key.decode(): int.from_bytes(entry[TIME:], "big") for key, entry in files.scan("rows")}
    files.close()
    return found


def test_until_ready_reads_all_records_into_files(run: Run, world: World) -> None:
    world.fill()

    shown = run("replica", "clicks", "--until-ready")

    assert shown.exit_code == 0, shown.stderr
    assert "clicks, replica standby-1: topics in " in shown.stderr
    for line in (
        "counts: ready · 3 rows · lag 0 · position 0:",
        "per-minute: ready · 6 rows · lag 0",
        "visits: ready · 2 rows",
        "prices: ready · ",
    ):
        assert line in shown.stderr
    assert kept(world, "standby-1") == {"ada": 3, "bob": 1, "carl": 7}


def test_replica_resumes_from_its_files(run: Run, world: World) -> None:
    world.fill()
    run("replica", "clicks", "--store", "counts", "--name", "second", "--until-ready")
    world.count(dora=9, bob=None)

    shown = run("replica", "clicks", "--store", "counts", "--name", "second", "--until-ready")

    assert shown.exit_code == 0, shown.stderr
    assert "per-minute" not in shown.stderr
    assert kept(world, "second") == {"ada": 3, "carl": 7, "dora": 9}


def test_replica_follows_until_ctrl_c(world: World, folder: Path) -> None:
    world.fill()
    with started(folder, "replica", "clicks", "--store", "counts") as (process, said):
        wait_for(lambda: "counts: ready · 3 rows" in said(), process, said)
        world.count(dora=9)
        wait_for(lambda: "counts: ready · 4 rows" in said(), process, said)

        assert interrupt(process) == 0
    assert "Traceback" not in said()


def test_replica_waits_for_topics_that_do_not_exist_yet(world: World, folder: Path) -> None:
    world.describe(INFOS[0])
    with started(folder, "replica", "clicks", "--in-memory") as (process, said):
        wait_for(lambda: "counts is waiting for the topic clicks-counts-changelog" in said(), process, said)
        world.count(ada=3)
        # Between the topic and its first record it is ready, too, with no rows.
        wait_for(lambda: "counts: ready · 1 row · lag 0" in said(), process, said)

        assert interrupt(process) == 0
    assert "Traceback" not in said()


def test_second_replica_of_the_same_name_is_refused(run: Run, world: World, folder: Path) -> None:
    world.fill()
    with started(folder, "replica", "clicks", "--store", "counts") as (process, said):
        wait_for(lambda: "counts: ready" in said(), process, said)

        second = run("replica", "clicks", "--store", "counts", "--until-ready")
        third = run("replica", "clicks", "--store", "counts", "--dir", "elsewhere", "--until-ready")

    assert second.exit_code == 1
    assert "is in use, by another process or in this one" in second.stderr
    assert third.exit_code == 0, third.stderr
    assert (folder / "elsewhere" / "counts" / "CURRENT").is_file()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["click"], "There is no application 'click'"),
        (["click"], "Did you mean clicks?"),
        (["clicks.py"], "There is no file clicks.py"),
        (["clicks", "--store", "count"], "Did you mean 'counts'?"),
        (["clicks", "--name", "../other"], "'../other' cannot be the name of a replica"),
        (
            ["clicks", "--in-memory", "--dir", "x"],
            "--in-memory and --dir cannot be combined",
        ),
        (["clicks", "--state-dir", "nowhere"], "nowhere: none."),
    ],
)
def test_missing_application_or_store_is_explained(
    run: Run, world: World, arguments: list[str], words: str
) -> None:
    world.fill()

    shown = run("replica", *arguments)

    assert shown.exit_code == 1
    assert words in shown.stderr
    assert "Traceback" not in shown.stderr


def test_module_next_to_the_state_is_a_program_unless_it_is_an_id(
    run: Run, world: World, folder: Path
) -> None:
    world.fill()
    (folder / "prog.py").write_text(COUNT)

    shown = run("replica", "prog", "--store", "counts", "--until-ready")

    assert shown.exit_code == 0, shown.stderr
    assert "counts: ready · 3 rows" in shown.stderr


@pytest.mark.usefixtures("spark")
def test_program_that_has_never_run_is_analysed_for_its_stores(run: Run, world: World, folder: Path) -> None:
    (folder / "prog.py").write_text(COUNT)
    world.count(ada=3)

    shown = run("replica", "prog:app", "--until-ready")

    assert shown.exit_code == 0, shown.stderr
    assert "Analysing the stores of prog with Spark" in shown.stderr
    assert "counts: ready · 1 row" in shown.stderr
    # Nothing was created for it.
    assert list(world.topics) == ["clicks-counts-changelog"]
