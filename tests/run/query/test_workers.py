"""Worker processes: what happens when one is killed, when the JVM is, and where prints go."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import brookmere as bm
from tests.run.homes import Home, until

PROGRAM = """\
import os, pathlib
import brookmere as bm

def told(value: str) -> str:
    pathlib.Path("pids").write_text(f"{os.getpid()} {os.getppid()}")
    return value

app = bm.StreamsBuilder("told", key=bm.Text(), value=bm.Text())
app.stream("in").map_values(bm.python(told)).to("out")
"""


class Summing(bm.Processor):
    """Sums up, and kills its own process once, in the midst of a batch."""

    stores = (bm.key_value_store("sums", key=bm.Text(), value=bm.Long()),)
    mark = Path()

    def process(self, record: bm.Record) -> None:
        sums = self.context.store("sums")
        total = (sums.get(record.key) or 0) + int(record.value)
        sums.put(record.key, total)
        if total == 60 and not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        self.context.forward(record.with_value(str(total)))


def summing(mark: Path) -> bm.StreamsBuilder:
    def supplier() -> Summing:
        made = Summing()
        made.mark = mark
        return made

    app = bm.StreamsBuilder("summing", key=bm.Text(), value=bm.Text())
    app.stream("in").process_values(supplier, stores=Summing.stores).to("out")
    return app


def is_gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"


@pytest.mark.usefixtures("spark")
def test_a_batch_whose_worker_is_killed_is_repeated(home: Home, caplog: pytest.LogCaptureFixture) -> None:
    mark = home.directory / "killed"
    home.write("in", "10", "20", "30", "40")

    home.run(summing(mark))

    assert mark.exists()
    assert home.read("out") == ["10", "30", "60", "100"]
    assert "was ended by signal 9" in caplog.text


def test_workers_end_with_their_application(home: Home, spark: SparkSession) -> None:
    file = home.directory / "pid"

    def told(value: str) -> str:
        file.write_text(str(os.getpid()))
        return value

    app = bm.StreamsBuilder("told", key=bm.Text(), value=bm.Text())
    app.stream("in").map_values(bm.python(told)).to("out")
    home.write("in", "a")
    with home.application(app) as application:
        application.process_all_available()
        first = file.read_text()
        home.write("in", "b")
        application.process_all_available()

        assert file.read_text() == first
        assert not is_gone(int(first))

    until(lambda: is_gone(int(first)))


def test_what_a_program_prints_is_in_the_log_of_java(home: Home, spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    log = Path(f"/proc/{jvm.java.lang.ProcessHandle.current().pid()}/fd/2")
    word = f"printed-{home.directory.name}"

    def printing(value: str) -> str:
        print(word, value)  # noqa: T201 - what the test is about
        return value

    app = bm.StreamsBuilder("printing", key=bm.Text(), value=bm.Text())
    app.stream("in").map_values(bm.python(printing)).to("out")
    home.write("in", "a")

    home.run(app)

    assert home.read("out") == ["a"]
    assert f"{word} a\n" in log.read_text(errors="replace")


@pytest.mark.slow
def test_a_worker_does_not_outlive_its_jvm(tmp_path: Path) -> None:
    (tmp_path / "told.py").write_text(PROGRAM)
    home = bm.Topics(tmp_path / ".brookmere" / "topics")
    home.create("in").append([bm.Record(b"k", b"v", 1)])
    command = [sys.executable, "-c", "from brookmere.cli.main import main; main()", "run", "told.py:app"]
    with (tmp_path / "said").open("w") as said:
        process = subprocess.Popen(command, cwd=tmp_path, stdout=said, stderr=said)
    try:
        until(lambda: (tmp_path / "pids").exists() and len((tmp_path / "pids").read_text().split()) == 2)
        worker, java = map(int, (tmp_path / "pids").read_text().split())

        os.kill(java, signal.SIGKILL)

        until(lambda: is_gone(worker))
    finally:
        process.kill()
        process.wait()
