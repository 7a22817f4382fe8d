"""`check` shows what a program would do with the existing state, and changes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import brookmere as bm
from tests.cli.conftest import COUNT, Run

pytestmark = pytest.mark.usefixtures("spark")

MORE = """\
import brookmere as bm

app = bm.StreamsBuilder("clicks", key=bm.Text(), value=bm.Text())
counts = app.stream("clicks").group_by_key().count(store="counts").to_stream()
counts.to("totals")
counts.group_by(lambda user, count: count.cast("string")).count(store="users").to_stream().to("users")
"""
OTHER = """\
import brookmere as bm

app = bm.StreamsBuilder("clicks", key=bm.Text(), value=bm.Text())
app.stream("clicks").group_by_key().reduce(lambda last, page: page, store="counts").to_stream().to("totals")
"""


@pytest.fixture
def topics(folder: Path) -> bm.Topics:
    (folder / "clicks.py").write_text(COUNT)
    (folder / "more.py").write_text(MORE)
    (folder / "other.py").write_text(OTHER)
    topics = bm.Topics(folder / ".brookmere" / "topics")
    topics.create("clicks").append([bm.Record(b"ann", b"/", 0)])
    return topics


def test_check_predicts_what_run_reports_at_start(run: Run, topics: bm.Topics, folder: Path) -> None:
    nothing = run("check", "clicks.py")
    assert nothing.exit_code == 0
    assert "clicks has no state in" in nothing.stdout
    assert not (folder / ".brookmere" / "state").exists()

    assert run("run", "clicks.py", "--until-idle", "--quiet").exit_code == 0
    same = run("check", "clicks.py")
    assert same.stdout.splitlines() == ["store   what happens", "counts  kept"]

    checked = run("check", "more.py", "-c", "store.type=rocksdb")
    assert checked.exit_code == 0, checked.stderr
    assert checked.stdout.splitlines()[1:] == [
        "counts  converted; from auto to rocksdb",
        "users   new and empty; earlier records of clicks are not in it",
    ]
    assert "users" not in topics.names()

    topics["clicks"].append([bm.Record(b"ann", b"/", 1)])
    done = run("run", "more.py", "-c", "store.type=rocksdb", "--until-idle", "--quiet")
    assert done.exit_code == 0, done.stderr
    assert "clicks: store counts: converted; from auto to rocksdb\n" in done.stderr
    assert [bm.Long().deserialize(r.value) for r in topics["totals"].read(0)] == [1, 2]


def test_check_refuses_what_run_would_refuse(run: Run, topics: bm.Topics) -> None:
    assert run("run", "clicks.py", "--until-idle", "--quiet").exit_code == 0

    reported = run("check", "other.py")
    assert reported.exit_code == 1
    assert reported.stdout.splitlines()[1:] == [
        "counts  refused; it has values of bigint, but the program needs string",
        "Give the result a new name with store= instead of 'counts'.",
    ]
    found = run("check", "other.py", "--json")
    assert found.exit_code == 1
    content = json.loads(found.stdout)
    assert not content["possible"]
    assert [(store["store"], store["outcome"]) for store in content["stores"]] == [("counts", "refused")]
