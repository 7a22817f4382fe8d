"""The leaderboard demo: its season, its display, its summary, and its port."""

from __future__ import annotations

import itertools
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import brookmere as bm
from brookmere.cli.demo.directory import Place
from brookmere.cli.demo.leaderboard.season import TOPICS, season
from brookmere.cli.demo.leaderboard.show import next_commands
from brookmere.cli.demo.leaderboard.standings import Standings
from tests.cli.conftest import Run


def board(game: str, *scores: tuple[str, float]) -> list[dict[str, Any]]:
    return [{"gameName": game, "playerName": player, "score": score} for player, score in scores]


def drawn(standings: Standings, width: int) -> list[str]:
    terminal = Console(width=width, height=24, legacy_windows=False)
    with terminal.capture() as text:
        terminal.print(standings)
    return [line.rstrip() for line in text.get().splitlines()]


def played(directory: Path, scores: int) -> list[str]:
    topics = bm.Topics(directory)
    for topic in TOPICS:
        topics.create(topic, exist_ok=True)
    with closing(season(topics)) as steps:
        return list(itertools.islice(steps, scores))


def test_season_is_reproducible_and_continues_in_the_same_topics(folder: Path) -> None:
    first = played(folder / "one", 40)

    assert played(folder / "two", 40) == first
    assert played(folder / "one", 40) != first
    topics = bm.Topics(folder / "one")
    assert [sum(topics[name].end_offsets()) for name in TOPICS] == [16, 10, 80]


def test_players_and_products_are_known_before_the_first_score(folder: Path) -> None:
    played(folder, 1)

    times = {name: [record.timestamp for record in bm.Topics(folder)[name].read(0)] for name in TOPICS}
    assert max(times["players"] + times["products"]) <= times["score-events"][0]


def test_standings_are_in_order_of_game_number_and_fit_the_terminal() -> None:
    standings = Standings("http://127.0.0.1:7000", left=42)
    news = standings.see(
        {"10": board("The Last Ferry", ("Ada", 1020.0)), "6": board("Heron", ("Goro", 9.0), ("Elif", 8.0))}
    )
    standings.changed["10"] -= 60
    lines = drawn(standings, 80)

    assert news == ["6", "10"]
    assert all(len(line) <= 80 for line in lines)
    assert "42 s left, any key quits" in lines[0]
    assert re.match(r"Heron +Goro 9 +Elif 8$", lines[3])
    assert re.match(r"The Last Ferry +Ada 1,020$", lines[4])


def test_only_different_boards_count_as_changed() -> None:
    standings = Standings("http://127.0.0.1:7000")
    standings.see({"1": board("Otter Hop", ("Ada", 1.0)), "2": board("Mill Race", ("Ada", 1.0))})
    before = standings.changed["1"]

    assert standings.see({"1": standings.boards["1"], "2": board("Mill Race", ("Elif", 2.0))}) == ["2"]
    assert (standings.changed["1"], standings.changes) == (before, 3)


def test_standings_without_boards_explain_the_wait() -> None:
    assert "The first batch takes" in "\n".join(drawn(Standings("http://127.0.0.1:7000"), 80))


@pytest.fixture
def taken_port() -> Iterator[int]:
    try:
        server = socket.create_server(("127.0.0.1", 7000))
    except OSError:
        # Another program has it already, which is as good.
        yield 7000
        return
    with server:
        yield 7000


@pytest.mark.usefixtures("spark", "taken_port")
def test_demo_shows_scores_and_boards_at_a_port_that_is_free(run: Run, folder: Path) -> None:
    begun = time.monotonic()
    shown = run("demo", "leaderboard", "--seconds", "2", "--dir", "demo")

    assert shown.exit_code == 0, shown.stderr
    assert time.monotonic() - begun < 120
    page = re.search(r"Page:    http://127\.0\.0\.1:(\d+)/\n", shown.stdout)
    assert page is not None
    assert page[1] != "7000"
    assert "Port 7000 is already in use" in shown.stderr
    assert re.search(r"\nscore   \w+ scored [\d,]+ in ", shown.stdout)
    assert re.search(r"\nboard   (Otter Hop|Mill Race|Skipping Stones): \w+ [\d,]+", shown.stdout)
    done = re.search(r"  (\d+) scores came in", shown.stdout)
    scores = bm.Topics(folder / "demo" / ".brookmere" / "topics")["score-events"].end_offsets()
    assert done is not None
    assert int(done[1]) == sum(scores)
    commands = shown.stdout.partition("What to try next\n")[2].split("\n")
    assert [command.strip() for command in commands if command] == next_commands(
        Place(folder / "demo", "leaderboard.py")
    )
    # Running takes another Spark, and is what the other tests do.
    script = "\n".join(command for command in commands if not re.search(r"brookmere run|curl", command))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    tried = subprocess.run(
        ["bash", "-euc", script],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert tried.returncode == 0, tried.stderr
    assert "Heron and Frog" in tried.stdout
