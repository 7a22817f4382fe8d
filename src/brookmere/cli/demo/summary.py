"""The summary of a demo: what it did, where its files are, and what to try next."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from brookmere.cli.demo.directory import PROGRAM, Place
from brookmere.cli.demo.scene import Scene
from brookmere.cli.terminal import console


def write_summary(place: Place, scene: Scene) -> None:
    """Write the summary of the word count demo to stdout."""
    batches = 0 if scene.progress is None else scene.progress.batch + 1
    words = sum(scene.counts.values())
    delay = scene.delay()
    best = " · ".join(f"{word} {count}" for word, count in scene.top()[:8])
    write, out = console.write, console.out
    write("")
    out.print(Text("What happened", style="bold"))
    write(
        f"  {scene.sent:,} lines came in; {words:,} words were counted, {len(scene.counts):,} of "
        "them distinct."
    )
    write(f"  {best}")
    seen = "" if delay is None else f", and a count changed {delay:,} ms after its line was written"
    write(f"  Spark ran {batches:,} batch{'' if batches == 1 else 'es'}{seen}.")
    sizes = [
        f"{name} ({console.counted(place.topics[name].describe().records, 'record')})"
        for name in place.topics
    ]
    write_place(place, " and ".join(sizes), "the counts", next_commands(place))


def write_place(place: Place, topics: str, state: str, commands: Sequence[str]) -> None:
    """Write where the files are, and what to try with them."""
    write, out = console.write, console.out
    write("")
    out.print(Text(f"What is in {place.directory}", style="bold"))
    write(f"  {place.program_name:<18}the program: change it, and run it again")
    write(f"  {'.brookmere/topics':<18}the topics {topics}")
    write(f"  {'.brookmere/state':<18}{state}: the next run resumes from them")
    write("")
    out.print(Text("What to try next", style="bold"))
    for command in commands:
        write(f"  {command}")


def next_commands(place: Place) -> list[str]:
    """Return commands that work when typed one after the other."""
    return [
        *commands_to(place),
        "brookmere topics list",
        "brookmere consume word-counts --offset -10",
        'echo "I go on for ever" | brookmere produce lines',
        f"brookmere run {PROGRAM}",
        f"brookmere describe {PROGRAM}",
    ]


def commands_to(place: Place) -> list[str]:
    """Return the commands that change to the directory of a demo, and make `brookmere` available there."""
    found = shutil.which("brookmere")
    own = Path(sys.executable).parent / "brookmere"
    activate = own.parent / "activate"
    commands = [f"cd {shlex.quote(str(place.directory))}"]
    if found is None or Path(found).resolve() != own.resolve():
        commands.append(
            f"source {shlex.quote(str(activate))}"
            if activate.exists()
            else f"export PATH={shlex.quote(str(own.parent))}:$PATH"
        )
    return commands
