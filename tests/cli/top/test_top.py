"""`top` shows the status of an application: once, as JSON, or live; and whether it is running."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from brookmere.cli.top.panels import screen
from brookmere.cli.top.status_feed import Rates, watched
from brookmere.state.description.status import (
    InputStatus,
    NodeStatus,
    QueryableStatus,
    StageStatus,
    Status,
    write_status,
)
from brookmere.topics.times import now_ms
from tests.cli.conftest import Run
from tests.cli.worlds import DEADLINE_SECONDS, World

DEAD = 2**22 + 1
"""A pid that no process has."""


def status(pid: int | None = None, age_ms: int = 0, **changes: object) -> Status:
    known = Status(
        application="clicks",
        state="running",
        pid=os.getpid() if pid is None else pid,
        started=now_ms() - 3_600_000,
        time=now_ms() - age_ms,
        batch=7,
        batch_ms=120,
        batch_records=500,
        records=12_345,
        records_per_second=432.1,
        lag=3,
        late=2,
        dropped=5,
        state_bytes=2_000_000,
        nodes=(
            NodeStatus("KSTREAM-SOURCE-0000000000", 0, 12_345, 12_345, 0, 0),
            NodeStatus("KSTREAM-AGGREGATE-0000000001", 1, 12_345, 40, 5, 1, 2),
        ),
        inputs=(InputStatus("clicks", (6000, 6345), (6001, 6347), 3, 1_700_000_000_123),),
        stages=(StageStatus(1, ("counts",), 40, 2_000_000),),
        stores=(QueryableStatus("counts", "key_value", "clicks-counts-changelog", True, True, 40, 500, 1),),
    )
    return replace(known, **changes)  # type: ignore[arg-type]


@pytest.fixture
def world(folder: Path) -> World:
    made = World(folder)
    made.describe()
    return made


def test_once_shows_nodes_topics_and_stores(run: Run, world: World) -> None:
    write_status(world.state, status())

    shown = run("top", "clicks", "--once")

    assert shown.exit_code == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert lines[0].startswith(f"clicks running · pid {os.getpid()} · since ")
    assert lines[1:4] == [
        "batch 7 (500 records, 120 ms) · 432 records/s · lag 3",
        "12,345 records · 2 late · 5 dropped · 0 failed and skipped · state 2.0 MB",
        "",
    ]
    assert lines[4:] == [
        "NODE                          IN/S  OUT/S     IN    OUT  LATE  DROPPED  FAILED",
        "KSTREAM-SOURCE-0000000000        -      -  12.3k  12.3k     0        0       0",
        "KSTREAM-AGGREGATE-0000000001     -      -  12.3k     40     2        5       1",
        "",
        "TOPIC   PARTITIONS    READ     END  LAG  UP TO (UTC)",
        "clicks           2  12,345  12,348    3  2023-11-14 22:13:20.123",
        "",
        "STATE   ROWS    SIZE",
        "counts    40  2.0 MB",
        "",
        "REPLICA OF  KIND       ROWS   SIZE  LAG  STATE",
        "counts      key-value    40  500 B    1  ready",
    ]


def test_narrow_terminal_truncates_names_and_not_numbers(world: World) -> None:
    narrow = Console(width=60, file=io.StringIO())

    with narrow.capture() as shown:
        narrow.print(screen(watched(status(), is_here=True), {}, None))

    assert "KSTREAM-S… " in shown.get()
    assert "  12.3k  12.3k     0        0       0" in shown.get()


def test_short_terminal_hides_nodes_and_says_so(world: World) -> None:
    many = status(nodes=tuple(NodeStatus(f"NODE-{n}", 0, n, n, 0, 0) for n in range(30)))
    small = Console(width=100, file=io.StringIO())

    with small.capture() as shown:
        small.print(screen(watched(many, is_here=True), {}, 24))

    assert shown.get().count("NODE-") == 9
    assert "and 21 more nodes" in shown.get()
    assert len(shown.get().splitlines()) <= 24


def test_short_terminal_hides_stores_and_says_so(world: World) -> None:
    nodes = tuple(NodeStatus(f"NODE-{n}", 0, n, n, 0, 0) for n in range(10))
    stores = tuple(QueryableStatus(f"store-{n}", "key_value", "x", True, True) for n in range(12))
    many = status(nodes=nodes, stores=stores)
    small = Console(width=80, file=io.StringIO())

    with small.capture() as shown:
        small.print(screen(watched(many, is_here=True), {}, 24))

    lines = shown.get().splitlines()
    assert len(lines) <= 24
    assert "and 5 more nodes" in lines
    assert sum(line.startswith("store-") for line in lines) == 4
    assert lines[-1] == "and 8 more stores"


def test_json_is_the_status_and_whether_it_is_running(run: Run, world: World) -> None:
    write_status(world.state, status())

    found = json.loads(run("top", "clicks", "--once", "--json").stdout)

    assert found["is_running"] is True
    assert (found["application"], found["records"], found["nodes"][1]["late"]) == ("clicks", 12_345, 2)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"pid": DEAD, "age_ms": 5_000}, f"Not running: its process {DEAD} is gone. Last status: "),
        ({"age_ms": 60_000}, "Not running: it has not reported for 6"),
        ({"age_ms": 10_000}, "clicks running"),
        ({"pid": DEAD, "age_ms": 60_000, "state": "stopped"}, "Not running. Last status: "),
        ({"pid": DEAD, "state": "failed", "error": "A record failed."}, "A record failed."),
        ({"batch": None, "nodes": (), "inputs": (), "stages": ()}, "No batch processed yet."),
    ],
)
def test_stopped_application_is_distinguished_from_a_running_one(
    run: Run, world: World, how: dict[str, Any], words: str
) -> None:
    write_status(world.state, status(**how))

    shown = run("top", "clicks", "--once")

    assert words in shown.stdout
    assert shown.exit_code == 0


def test_application_without_a_status_is_an_error(run: Run, world: World) -> None:
    shown = run("top", "clicks")

    assert shown.exit_code == 1
    assert "The application clicks has no status: there is no status.json in " in shown.stderr
    assert "Did you mean clicks?" in run("top", "clikcs").stderr


def test_rates_cover_the_last_seconds_and_reset_after_a_restart() -> None:
    rates = Rates()
    first = status(time=1_000_000)

    def later(seconds: int, received: int, **changes: object) -> Status:
        source = replace(first.nodes[0], received=received)
        return replace(first, time=1_000_000 + seconds * 1000, nodes=(source,), **changes)  # type: ignore[arg-type]

    assert rates.follow(first) == {}
    assert rates.follow(later(2, 12_545))["KSTREAM-SOURCE-0000000000"] == (100.0, 0.0)
    rates.follow(later(8, 12_545))
    assert rates.follow(later(12, 12_545))["KSTREAM-SOURCE-0000000000"][0] == 0.0
    assert rates.follow(later(13, 10, started=5)) == {}


def test_screen_follows_until_q(world: World, folder: Path) -> None:
    write_status(world.state, status())
    terminal, end = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "40"}
    with subprocess.Popen(
        [sys.executable, "-m", "brookmere", "top", "clicks", "--interval", "0.1"],
        cwd=folder, stdin=end, stdout=end, stderr=end, env=environment,
    ) as process:  # fmt: skip
        os.close(end)
        _read_until(terminal, "12,345 records")

        write_status(world.state, status(records=23_456))
        _read_until(terminal, "23,456 records")
        write_status(world.state, status(DEAD, 60_000))
        _read_until(terminal, f"its process {DEAD} is gone")
        os.write(terminal, b"q")

        assert process.wait(DEADLINE_SECONDS) == 0
    os.close(terminal)


def _read_until(terminal: int, words: str) -> None:
    read = b""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while words not in read.decode(errors="replace"):
        assert time.monotonic() < deadline, read
        read += os.read(terminal, 65536)
