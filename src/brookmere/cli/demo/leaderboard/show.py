"""The leaderboard demo: live in the terminal, and on a page that this process serves."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from rich.live import Live
from rich.text import Text

from brookmere.cli.demo.directory import Place
from brookmere.cli.demo.feeder import Feeder
from brookmere.cli.demo.leaderboard.season import TOPICS, season
from brookmere.cli.demo.leaderboard.standings import Standings, board_line, name_of
from brookmere.cli.demo.start import start_with_notice
from brookmere.cli.demo.summary import commands_to, write_place
from brookmere.cli.programs.load import find
from brookmere.cli.programs.supervise import failure_out_of_log, stop_signals
from brookmere.cli.terminal import console
from brookmere.cli.terminal.keyboard import pressed_keys
from brookmere.errors import ServerError

if TYPE_CHECKING:
    from brookmere.run.application import Application
    from brookmere.serve import Server
    from brookmere.state import KeyValueStore

PROGRAM = "leaderboard.py"
STORE = "leader-boards"

_HOST, _PORT = "127.0.0.1", 7000
_SCORES_PER_SECOND = 5.0
_LOOK_SECONDS = 0.2
_SHOWN_SCORES = 12
# Even if no board ever arrives and nobody presses a key, the demo must end.
_PATIENCE_SECONDS = 180.0


def watch_leaderboard(seconds: int, directory: Path | None) -> None:
    """Keep the leaderboards until the time is up, a key is pressed or a signal arrives."""
    place = Place.make(directory, PROGRAM, TOPICS)
    console.out.print(Text("The three best scores of every game.", style="bold"))
    console.write(f"Program: {place.program}")
    console.write(f"Topics:  {place.topics.directory}")
    # Importing PySpark takes a second.
    from brookmere.run.application import Application

    logging.getLogger("brookmere.kernel.build").setLevel(logging.INFO)
    found = find(str(place.program))
    application = Application(found.program, place.settings())
    with (
        failure_out_of_log(),
        Feeder(place.topics, season, per_second=_SCORES_PER_SECOND) as feeder,
        stop_signals() as stop_requested,
    ):
        start_with_notice(application, stop_requested)
        try:
            with _serve(application, found.module) as server:
                console.write(f"Page:    {server.url}/")
                standings = Standings(server.url)
                boards = application.store(STORE)
                _watch(application, standings, feeder, boards, stop_requested, seconds)
                feeder.stop()
                if application.state == "running":
                    console.say("Stopping after the remaining scores are processed.", style="dim")
                    application.process_all_available()
                    ends = dict(enumerate(place.topics["score-events"].end_offsets()))
                    standings.see(dict(boards.at_least({"score-events": ends}).all()))
                standings.sent += len(feeder.sent())
                standings.progress = application.progress()
        finally:
            application.stop()
    if application.error is not None:
        raise application.error
    _write_summary(place, standings)


def _serve(application: Application, program: ModuleType) -> Server:
    """Serve the page and the program's routes at the usual port, or at a free one if that is in use."""
    from brookmere.serve import serve
    from brookmere.serve.routes.static_page import page_routes

    html = files("brookmere.cli.demo.leaderboard").joinpath("page.html").read_text()
    routes = [program.routes, page_routes("/", html)]
    try:
        return serve(application, f"{_HOST}:{_PORT}", routes=routes)
    except ServerError:
        server = serve(application, f"{_HOST}:0", routes=routes)
        console.say(f"Port {_PORT} is already in use; the page is served on port {server.port}.")
        return server


def _watch(
    application: Application,
    standings: Standings,
    feeder: Feeder,
    boards: KeyValueStore,
    stop_requested: threading.Event,
    seconds: int,
) -> None:
    """Show what happens until the time is up, a key is pressed, or the application ends."""
    deadline = time.monotonic() + _PATIENCE_SECONDS + seconds
    with pressed_keys() as is_pressed, _shown(standings) as update:
        while time.monotonic() < deadline and not stop_requested.is_set() and not is_pressed():
            if application.wait(timedelta(seconds=_LOOK_SECONDS)):
                return
            had_boards = bool(standings.boards)
            standings.sent += len(scores := feeder.sent())
            changed = standings.see(dict(boards.all()))
            if standings.boards and not had_boards:
                deadline = time.monotonic() + seconds
            standings.state, standings.progress = application.state, application.progress()
            standings.left = round(deadline - time.monotonic()) if standings.boards else seconds
            update(scores, changed)


Update = Callable[[list[str], list[str]], None]
"""Refreshes the display; takes the new scores and the games whose boards changed."""


@contextmanager
def _shown(standings: Standings) -> Iterator[Update]:
    if console.out.is_terminal:
        with Live(standings, console=console.out, screen=True, auto_refresh=False) as live:
            yield lambda *news: live.refresh()  # noqa: ARG005 - the standings have them
        return

    def write(scores: list[str], changed: list[str]) -> None:
        for score in scores[-_SHOWN_SCORES:]:
            console.write(f"score   {score}")
        for game in changed:
            board = standings.boards[game]
            console.write(f"board   {name_of(board)}: {board_line(board)}")
        console.out.file.flush()

    yield write


def _write_summary(place: Place, standings: Standings) -> None:
    """Write the summary of the leaderboard demo to stdout."""
    batches = 0 if standings.progress is None else standings.progress.batch + 1
    write, out = console.write, console.out
    write("")
    out.print(Text("What happened", style="bold"))
    write(f"  {console.counted(standings.sent, 'score')} came in; Spark ran {batches:,} batches.")
    for board in standings.boards.values():
        write(f"  {name_of(board):<18}{board_line(board)}")
    write_place(place, ", ".join(place.topics), "the boards", next_commands(place))


def next_commands(place: Place) -> list[str]:
    """Return commands that work when typed one after the other."""
    return [
        *commands_to(place),
        f"brookmere query {place.program_name} leader-boards 6",
        """echo '{"score": 99999, "product_id": 6, "player_id": 1}' | brookmere produce score-events""",
        f"brookmere run {place.program_name} --serve 127.0.0.1:7000",
        "curl http://127.0.0.1:7000/leaderboard/6",
    ]
