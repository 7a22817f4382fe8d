"""Tells what the leaderboard did, where everything lies, and what to try next."""

from __future__ import annotations

from rich.text import Text

from brookmere.cli import console
from brookmere.cli.demo.ending import commands_to
from brookmere.cli.demo.leaderboard.standings import Standings, name_of, told
from brookmere.cli.demo.place import Place


def tell_end(place: Place, standings: Standings) -> None:
    """Write the end of the demo on stdout."""
    batches = 0 if standings.progress is None else standings.progress.batch + 1
    write, out = console.write, console.out
    write("")
    out.print(Text("What was done", style="bold"))
    write(f"  {console.counted(standings.sent, 'score')} came in, Spark ran {batches:,} batches.")
    for board in standings.boards.values():
        write(f"  {name_of(board):<18}{told(board)}")
    write("")
    out.print(Text(f"What is in {place.directory}", style="bold"))
    write(f"  {place.program_name:<18}the program: change it, and run it again")
    write(f"  {'.brookmere/topics':<18}the topics {', '.join(place.topics)}")
    write(f"  {'.brookmere/state':<18}the boards: the next run goes on with them")
    write("")
    out.print(Text("What to try next", style="bold"))
    for command in next_commands(place):
        write(f"  {command}")


def next_commands(place: Place) -> list[str]:
    """Return commands that work when they are typed one after the other."""
    return [
        *commands_to(place),
        f"brookmere query {place.program_name} leader-boards 6",
        """echo '{"score": 99999, "product_id": 6, "player_id": 1}' | brookmere produce score-events""",
        f"brookmere run {place.program_name} --serve 127.0.0.1:7000",
        "curl http://127.0.0.1:7000/leaderboard/6",
    ]
