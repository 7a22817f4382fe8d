"""`brookmere reset` shows what it would do, and does it with --execute."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import brookmere as bm
from tests.cli.conftest import COUNT, Run


@pytest.fixture
def topics(folder: Path) -> bm.Topics:
    """A program, and the topic it reads."""
    (folder / "clicks.py").write_text(COUNT)
    topics = bm.Topics(folder / ".brookmere" / "topics")
    clicks = topics.create("clicks", 2)
    clicks.append([bm.Record(b"k", b"v", 1_000_000 + n, partition=n % 2) for n in range(10)])
    topics.create("clicks-counts-changelog", config={"cleanup.policy": "compact"})
    return topics


def begins(text: str) -> list[str]:
    return re.findall(r"^clicks +\d +- +(\d+)$", text, re.MULTILINE)


def test_dry_run_shows_everything_and_changes_nothing(run: Run, topics: bm.Topics) -> None:
    shown = run("reset", "clicks.py")

    assert shown.exit_code == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert lines[0].startswith("Reset of clicks, at ")
    assert [" ".join(line.split()) for line in lines[2:]] == [
        "TOPIC PARTITION CURRENT OFFSET NEW OFFSET",
        "clicks 0 - 0",
        "clicks 1 - 0",
        "",
        "To be deleted: topic clicks-counts-changelog",
    ]
    assert shown.stderr == "Nothing was changed. Run the same command with --execute to reset it.\n"
    assert "clicks-counts-changelog" in topics
    assert not Path(".brookmere/state/clicks").exists()


def test_execute_resets_the_application(run: Run, topics: bm.Topics) -> None:
    shown = run("reset", "clicks.py", "--to-latest", "--execute")

    assert begins(shown.stdout) == ["5", "5"]
    assert shown.stderr == "clicks is reset; its next run starts there.\n"
    assert "clicks-counts-changelog" not in topics
    assert '"offsets": [5, 5]' in Path(".brookmere/state/clicks/begin.json").read_text()
    assert "To be deleted: nothing" in run("reset", "clicks.py").stdout


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--to-earliest"], ["0", "0"]),
        (["--to-latest"], ["5", "5"]),
        (["--to-offset", "3"], ["3", "3"]),
        (["--to-offset", "99"], ["5", "5"]),
        (["--to-datetime", "1000005"], ["3", "2"]),
        (["--to-datetime", "1970-01-01T00:16:40.004Z"], ["2", "2"]),
        (["--by-duration", "PT1H"], ["5", "5"]),
        (["--by-duration", "P36500D"], ["0", "0"]),
    ],
)
def test_start_can_be_given_in_many_ways(
    run: Run, topics: bm.Topics, options: list[str], expected: list[str]
) -> None:
    assert begins(run("reset", "clicks.py", *options).stdout) == expected


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--to-latest", "--to-offset", "3"],
            "--to-latest and --to-offset cannot be combined: each says where to start.",
        ),
        (["--by-duration", "1h"], "'1h' is not a duration.\nWrite an ISO 8601 duration, such as PT1H"),
        (["--by-duration", "P"], "'P' is not a duration."),
        (["--to-datetime", "noon"], "'noon' is not a time."),
        (["--input-topics", "click"], "The program does not read the topic 'click'.\nDid you mean 'clicks'?"),
    ],
)
def test_contradicting_or_invalid_options_are_refused(
    run: Run, topics: bm.Topics, options: list[str], words: str
) -> None:
    shown = run("reset", "clicks.py", *options)

    assert shown.exit_code == 1
    assert words in shown.stderr
