"""The demo shows sentences and counts, with or without a terminal, and the commands it suggests work."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from rich.console import Console

import brookmere as bm
from brookmere.cli.demo.directory import Place, example
from brookmere.cli.demo.scene import Scene
from brookmere.cli.demo.summary import next_commands
from brookmere.run.progress import Progress
from tests.cli.conftest import Run


def drawn(scene: Scene, width: int, height: int) -> list[str]:
    terminal = Console(width=width, height=height, legacy_windows=False)
    with terminal.capture() as text:
        terminal.print(scene)
    return text.get().splitlines()


@pytest.fixture
def scene() -> Scene:
    scene = Scene(left=42, state="running", counting_since=0)
    scene.send([f"line number {n}" for n in range(50)])
    now = round(time.time() * 1000)
    scene.receive([bm.Record(f"word{n}", 100 - n, now - 200) for n in range(60)])
    for word in scene.changed:
        scene.changed[word] -= 0 if word == "word3" else 60
    scene.progress = Progress(
        batch=12, started=datetime.now(UTC), duration=timedelta(milliseconds=180), records=3,
        total_records=40, records_per_second=3.02, lag=1, state_bytes=0, skipped=0, nodes={}, phases={},
    )  # fmt: skip
    return scene


def test_scene_fills_a_small_terminal(scene: Scene) -> None:
    lines = drawn(scene, 80, 24)

    assert len(lines) == 24
    assert all(len(line) <= 80 for line in lines)
    assert lines[0].endswith("42 s left, any key quits")
    assert "topic lines · 50 in" in lines[1]
    assert "topic word-counts · 60 words" in lines[1]
    assert "line number 31" in lines[2]
    assert "line number 49" in lines[20]
    assert re.search(r"word0 +100 +word19 +81 ", lines[2])
    assert lines[22].startswith("running · batch 12 · 3.0 lines/s · 180 ms per batch · lag 1")
    assert re.match(r"A count changes 2\d\d ms after its line was written", lines[23])


def test_scene_uses_a_wide_terminal(scene: Scene) -> None:
    lines = drawn(scene, 160, 20)

    assert len(lines) == 20
    assert re.search(r"word0 +100 +word15 +85 +word30 +70 +word45 +55 ", lines[2])


def test_counts_that_changed_are_marked(scene: Scene) -> None:
    text = "\n".join(drawn(scene, 80, 24))

    assert re.search(r"word3 +97\+", text)
    assert text.count("+") == 1


def test_scene_without_counts_explains_the_wait() -> None:
    assert "The first batch takes" in "\n".join(drawn(Scene(), 80, 24))


def test_program_is_the_example_and_a_changed_one_is_kept(folder: Path) -> None:
    place = Place.make(folder / "demo")
    assert place.program.read_text() == example("word_count.py").read_text()

    place.program.write_text("# mine")
    assert Place.make(folder / "demo").program.read_text() == "# mine"


@pytest.mark.usefixtures("spark")
def test_demo_without_a_terminal_prints_lines_and_what_to_try_works(run: Run, folder: Path) -> None:
    shown = run("demo", "--seconds", "1", "--dir", "demo")

    assert shown.exit_code == 0, shown.stderr
    assert f"Topics:  {folder}/demo/.brookmere/topics\n" in shown.stdout
    assert "\nline    I come from haunts of coot and hern\n" in shown.stdout
    assert re.search(r"\ncounts  .*\bhaunts 1\b", shown.stdout)
    done = re.search(r"  (\d+) lines came in; (\d+) words were counted", shown.stdout)
    assert done is not None
    topics = bm.Topics(folder / "demo" / ".brookmere" / "topics")
    lines = [bm.Text().deserialize(record.value) for record in topics["lines"].read(0)]
    assert int(done[1]) == len(lines)
    assert int(done[2]) == sum(len(line.split(" ")) for line in lines)

    commands = shown.stdout.partition("What to try next\n")[2].split("\n")
    assert [command.strip() for command in commands if command] == next_commands(Place(folder / "demo"))
    # Running takes another Spark, and is what the other tests do.
    script = "\n".join(command for command in commands if " run " not in command)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    outcome = subprocess.run(
        ["bash", "-euc", script],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stderr
    assert "word-counts" in outcome.stdout
    assert "Sub-topology: 1" in outcome.stdout
    assert topics["lines"].end_offsets() == [len(lines) + 1]


def test_demo_in_a_terminal_ends_on_a_key(folder: Path) -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        os.execv(sys.executable, [sys.executable, "-m", "brookmere", "demo", "--dir", "demo"])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    shown = b""
    is_pressed = False
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        if not is_pressed and b"A count changes" in shown:
            is_pressed = True
            os.write(terminal, b"q")
        if select.select([terminal], [], [], 1)[0]:
            try:
                shown += os.read(terminal, 65536)
            except OSError:
                # On Linux this means that the other side is gone.
                break
    _, status = os.waitpid(pid, 0)

    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode())
    assert os.waitstatus_to_exitcode(status) == 0, text[-2000:]
    assert "Starting Spark" in text
    assert "topic lines · " in text
    # The screen of the demo is gone, and its summary is below the command.
    assert b"\x1b[?1049l" in shown
    assert "What happened" in text.rpartition("A count changes")[2]
