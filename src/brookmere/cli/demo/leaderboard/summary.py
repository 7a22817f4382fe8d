"""Tells what the leaderboard did, where everything lies, and what to try next."""

from __future__ import annotations

from rich.text import Text

from brookmere.cli.demo.directory import Place
from brookmere.cli.demo.leaderboard.standings import Standings, name_of, told
from brookmere.cli.demo.summary import commands_to, tell_place
from brookmere.cli.terminal import console


def tell_end(place: Place, standings: Standings) -> None:
    """Write the end of the demo on stdout."""
    batches = 0 if standings.progress is None else standings.progress.batch + 1
    write, out = console.write, console.out
    write("")
    out.print(Text("What was done", style="bold"))
    write(f"  {console.counted(standings.sent, 'score')} came in, Spark ran {batches:,} batches.")
    for board in standings.boards.values():
        write(f"  {name_of(board):<18}{told(board)}")
    tell_place(place, ", ".join(place.topics), "the boards", next_commands(place))


def next_commands(place: Place) -> list[str]:
    """Return commands that work when they are typed one after the other."""
    return [
        *commands_to(place),
        f"brookmere query {place.program_name} leader-boards 6",
        """echo '{"score": 99999, "product_id": 6, "player_id": 1}' | brookmere produce score-events""",
        f"brookmere run {place.program_name} --serve 127.0.0.1:7000",
        "curl http://127.0.0.1:7000/leaderboard/6",
    ]
