"""`run` runs a program, shows its progress, stops cleanly, and reports every failure in one paragraph."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import brookmere as bm
from tests.cli.conftest import COUNT, Run, Spawn

UPPER = """\
from pyspark.sql import functions as F
import brookmere as bm

app = bm.StreamsBuilder("upper", key=bm.Text(), value=bm.Text())
app.stream("in").map_values(lambda value: F.upper(value)).to("out")
"""
NUMBERS = """\
import brookmere as bm

app = bm.StreamsBuilder("whole", key=bm.Text(), value=bm.Int())
app.stream("in").to("out")
"""


@pytest.fixture
def topics(folder: Path) -> bm.Topics:
    return bm.Topics(folder / ".brookmere" / "topics")


def fill(topics: bm.Topics, name: str, *values: bytes) -> None:
    topics.create(name, exist_ok=True).append([bm.Record(b"k", value, n) for n, value in enumerate(values)])


def values(topics: bm.Topics, name: str) -> list[bytes]:
    return [record.value for record in topics[name].read(0)]


@pytest.mark.usefixtures("spark")
def test_until_idle_processes_available_records_and_resumes_later(
    run: Run, topics: bm.Topics, folder: Path
) -> None:
    (folder / "upper.py").write_text(UPPER)
    fill(topics, "in", b"a", b"b")

    first = run("run", "upper:app", "--until-idle")
    assert first.exit_code == 0, first.stderr
    assert values(topics, "out") == [b"A", b"B"]
    assert "upper: starting\n" in first.stderr
    assert "upper: 2 records · 0 skipped · batch 0 · " in first.stderr
    assert first.stderr.endswith("upper: stopped\n")
    assert first.stdout == ""

    fill(topics, "in", b"c")
    assert run("run", "upper.py", "--until-idle", "--quiet").stderr == ""
    assert values(topics, "out") == [b"A", b"B", b"C"]


@pytest.mark.usefixtures("spark")
def test_progress_can_be_printed_as_json(run: Run, topics: bm.Topics, folder: Path) -> None:
    (folder / "clicks.py").write_text(COUNT)
    fill(topics, "clicks", b"x", b"y", b"z")

    shown = run("run", "clicks:app", "--until-idle", "--json-progress")

    batches = [json.loads(line) for line in shown.stdout.splitlines()]
    assert sum(batch["records"] for batch in batches) == 3
    assert batches[-1]["total_records"] == 3
    assert batches[-1]["lag"] == 0
    assert set(batches[0]) == {
        "state", "batch", "started", "duration_ms", "records", "total_records", "records_per_second", "lag",
        "state_bytes", "skipped",
    }  # fmt: skip


@pytest.mark.usefixtures("spark")
def test_options_set_directories_topics_and_settings(run: Run, folder: Path) -> None:
    (folder / "clicks.py").write_text(COUNT)
    (folder / "app.properties").write_text("application.id=from-file\nmax.batch.records=7\n")

    shown = run(
        "run", "clicks:app", "--until-idle", "--config", "app.properties", "-c", "application.id=chosen",
        "--topics-dir", "t", "--state-dir", "s", "--create-topics", "-p", "3",
    )  # fmt: skip

    assert shown.exit_code == 0, shown.stderr
    topics = bm.Topics(folder / "t")
    assert {name: topics[name].partitions for name in topics} == dict.fromkeys(
        ["clicks", "totals", "chosen-counts-changelog"], 3
    )
    assert (folder / "s" / "chosen" / "checkpoint").is_dir()


@pytest.mark.usefixtures("spark")
def test_bad_record_fails_with_one_paragraph(run: Run, topics: bm.Topics, folder: Path) -> None:
    (folder / "whole.py").write_text(NUMBERS)
    fill(topics, "in", b"three")

    shown = run("run", "whole:app", "--until-idle", "--quiet")

    assert shown.exit_code == 1
    assert shown.stderr.startswith("Error: A record could not be read at node KSTREAM-SOURCE-0000000000")
    assert "topic in, partition 0, offset 0: " in shown.stderr
    assert shown.stderr.count("could not be read") == 1
    assert "Traceback" not in shown.stderr


@pytest.mark.usefixtures("spark")
def test_skipped_records_are_counted(run: Run, topics: bm.Topics, folder: Path) -> None:
    (folder / "whole.py").write_text(NUMBERS)
    fill(topics, "in", b"three", bm.Int().serialize(3) or b"")

    shown = run("run", "whole:app", "--until-idle", "-c", "deserialization.exception.handler=continue")

    assert shown.exit_code == 0, shown.stderr
    assert " · 1 skipped · " in shown.stderr
    assert values(topics, "out") == [bm.Int().serialize(3)]


@pytest.mark.usefixtures("spark")
def test_mistake_in_a_lambda_names_its_line(run: Run, topics: bm.Topics, folder: Path) -> None:
    (folder / "bad.py").write_text(
        "from pyspark.sql import functions as F\n"
        + COUNT.replace(".group_by_key()", ".filter(lambda page: F.lenght(page) > 3).group_by_key()")
    )
    fill(topics, "clicks", b"x")

    shown = run("run", "bad:app", "--quiet")

    assert shown.exit_code == 1
    assert shown.stderr.startswith("Error: ")
    assert "bad.py:5" in shown.stderr
    assert "lenght" in shown.stderr
    assert "Traceback" not in shown.stderr


def test_missing_topic_names_the_command_that_creates_it(run: Run, folder: Path) -> None:
    (folder / "clicks.py").write_text(COUNT)

    shown = run("run", "clicks:app", "--quiet")

    assert shown.exit_code == 1
    assert "The topic 'clicks', which the program reads, does not exist" in shown.stderr
    assert "brookmere topics create clicks" in shown.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-c", "comit.interval.ms=1"], "Did you mean commit.interval.ms?"),
        (["-c", "commit.interval.ms"], "-c expects a setting and its value, found 'commit.interval.ms'"),
        (["--config", "nothing.properties"], "The settings in nothing.properties cannot be read"),
        (["-c", "bootstrap.servers=localhost:9092"], "Kafka"),
    ],
)
def test_wrong_settings_are_explained(run: Run, folder: Path, arguments: list[str], words: str) -> None:
    (folder / "clicks.py").write_text(COUNT)

    shown = run("run", "clicks:app", *arguments)

    assert shown.exit_code == 1
    assert words in shown.stderr


def test_missing_java_is_reported_with_the_remedy(
    spawn: Spawn, folder: Path, topics: bm.Topics, without_java: dict[str, Any]
) -> None:
    (folder / "clicks.py").write_text(COUNT)
    topics.create("clicks")

    shown = spawn("run", "clicks:app", "--quiet", **without_java)

    assert shown.returncode == 1
    assert shown.stderr.startswith("Error: Spark needs Java 17 or newer, and none was found.\n")
    assert "pip install 'brookmere[java]'" in shown.stderr
    assert "Traceback" not in shown.stderr


def test_unwritable_state_directory_is_reported(run: Run, folder: Path, topics: bm.Topics) -> None:
    (folder / "clicks.py").write_text(COUNT)
    topics.create("clicks")
    # A file in the way refuses everyone, root included.
    (folder / "file").touch()

    shown = run("run", "clicks:app", "--quiet", "--state-dir", "file/state")

    assert shown.exit_code == 1
    assert f"cannot write its state to {folder}/file/state" in shown.stderr


def test_ctrl_c_stops_it_cleanly_and_a_second_instance_is_refused(
    spawn: Spawn, folder: Path, topics: bm.Topics
) -> None:
    (folder / "upper.py").write_text(UPPER)
    fill(topics, "in", b"a")
    command = [sys.executable, "-m", "brookmere", "run", "upper:app"]
    with (
        (folder / "output").open("w") as output,
        subprocess.Popen(command, stdout=output, stderr=output) as process,
    ):
        wait_for(lambda: "out" in topics and values(topics, "out") == [b"A"], process)

        second = spawn("run", "upper:app", "--quiet")
        fill(topics, "in", b"b")
        wait_for(lambda: values(topics, "out") == [b"A", b"B"], process)
        os.kill(process.pid, signal.SIGINT)

    assert process.returncode == 0, (folder / "output").read_text()
    assert (folder / "output").read_text().endswith("upper: stopped\n")
    assert second.returncode == 1
    assert second.stderr.startswith(
        "Error: The application 'upper' is already running on the state directory "
    )
    assert f"in process {process.pid} on " in second.stderr
    assert "Traceback" not in second.stderr


def wait_for(condition: Any, process: subprocess.Popen[Any]) -> None:
    deadline = time.monotonic() + 180
    while not condition():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
