"""A reset application starts from the given offsets, without any of its state."""

from __future__ import annotations

from pathlib import Path

import pytest

import brookmere as bm
from brookmere.run.launch.reset import Move, Reset, Target, execute, plan_reset
from brookmere.run.launch.start_offsets import read_start_offsets, write_start_offsets
from tests.run.homes import Home, count, shout


def planned(home: Home, program: bm.StreamsBuilder, target: Target, only: list[str] | None = None) -> Reset:
    made = home.application(program)
    return plan_reset(program, made.config, made.state_directory, target, only)


def reset(home: Home, program: bm.StreamsBuilder, target: Target, only: list[str] | None = None) -> None:
    execute(planned(home, program, target, only), home.application(program).config)


def earliest(topic: object) -> list[int]:
    return topic.start_offsets()  # type: ignore[attr-defined,no-any-return]


def latest(topic: object) -> list[int]:
    return topic.end_offsets()  # type: ignore[attr-defined,no-any-return]


def test_state_and_positions_are_forgotten(home: Home, spark: object) -> None:
    home.write("in", "a", "b")
    home.run(count())
    plan = planned(home, count(), earliest)

    execute(plan, home.application(count()).config)
    home.run(count())

    assert plan.moves == (Move("in", 0, 2, 0),)
    assert plan.topics == ("count-counts-changelog",)
    assert {path.name for path in plan.paths} == {
        "application.json", "checkpoint", "status.json", "stores.json"
    }  # fmt: skip
    assert home.read("out", bm.Long()) == [2, 2]
    assert home.read("count-counts-changelog", bm.Bytes())[-1] is not None


def test_application_starts_once_from_the_reset_offsets(home: Home, spark: object) -> None:
    home.write("in", "a", "b", "c")
    home.run(shout())

    reset(home, shout(), lambda topic: [1])
    home.run(shout())
    home.write("in", "d")
    home.run(shout())

    assert home.read("out") == ["a!", "b!", "c!", "b!", "c!", "d!"]
    assert not (home.directory / "state" / "shout" / "begin.json").exists()


def test_reset_to_the_end_reads_only_what_comes(home: Home, spark: object) -> None:
    home.write("in", "a")
    reset(home, shout(), latest)
    home.write("in", "b")

    home.run(shout(), auto__offset__reset="none")

    assert home.read("out") == ["b!"]


def test_other_topics_are_read_on(home: Home, spark: object) -> None:
    app = bm.StreamsBuilder("two", key=bm.Text(), value=bm.Text())
    app.stream(["in", "more"]).to("out")
    home.write("in", "a")
    home.write("more", "b")
    home.run(app)
    home.write("more", "c")

    plan = planned(home, app, earliest, ["in"])
    execute(plan, home.application(app).config)
    home.run(app)

    assert sorted((move.topic, move.old, move.new) for move in plan.moves) == [("in", 1, 0), ("more", 1, 1)]
    assert sorted(home.read("out")) == ["a", "a", "b", "c"]


def test_nothing_changes_before_it_is_executed(home: Home, spark: object) -> None:
    home.write("in", "a")
    home.run(count())
    before = sorted(str(path) for path in home.directory.rglob("*"))

    planned(home, count(), earliest)

    assert sorted(str(path) for path in home.directory.rglob("*")) == before


def test_running_application_is_left_alone(home: Home, spark: object) -> None:
    home.write("in", "a")
    with home.application(shout()) as running:
        running.process_all_available()

        with pytest.raises(bm.errors.InstanceError, match="is already running on the state directory"):
            planned(home, shout(), earliest)


def test_application_that_never_ran_can_be_reset(home: Home) -> None:
    home.topics.create("in", 2)

    plan = planned(home, shout(), earliest)

    assert plan.moves == (Move("in", 0, None, 0), Move("in", 1, None, 0))
    assert (plan.topics, plan.paths, plan.groups) == ((), (), ())
    assert not home.application(shout()).state_directory.exists()


def test_changelog_of_another_application_is_left(home: Home) -> None:
    home.topics.create("in")
    for name in ("count-counts-changelog", "count-eu-counts-changelog", "count-totals"):
        home.topics.create(name)

    plan = planned(home, count(), earliest)

    assert plan.topics == ("count-counts-changelog",)
    assert plan.left == ("count-eu-counts-changelog",)


def test_global_table_begins_at_its_beginning(home: Home) -> None:
    app = bm.StreamsBuilder("zoned", key=bm.Text(), value=bm.Text())
    app.global_table("zones")
    app.stream("in").to("out")
    home.write("in", "a")
    home.write("zones", "z")

    assert {move.topic: move.new for move in planned(home, app, latest).moves} == {"in": 1, "zones": 0}


def test_topic_that_is_not_read_is_refused(home: Home) -> None:
    home.topics.create("in")

    with pytest.raises(bm.BrookmereError, match=r"does not read the topic 'inn'.\nDid you mean 'in'\?"):
        planned(home, shout(), earliest, ["inn"])


def test_damaged_state_is_removed_as_well(home: Home, spark: object) -> None:
    home.write("in", "a")
    home.run(shout())
    (home.directory / "state" / "shout" / "application.json").write_text("{")

    reset(home, shout(), earliest)
    home.run(shout())

    assert home.read("out") == ["a!", "a!"]


def test_start_offsets_that_cannot_be_read_are_reported(tmp_path: Path) -> None:
    write_start_offsets(tmp_path, {"in": "1"}, {"in": [3]})
    assert read_start_offsets(tmp_path, tmp_path / "checkpoint") == '{"in": {"id": "1", "offsets": [3]}}'

    (tmp_path / "begin.json").write_text("{")

    with pytest.raises(bm.errors.StateError, match="which holds the offsets to start from, cannot be read"):
        read_start_offsets(tmp_path, tmp_path / "checkpoint")
