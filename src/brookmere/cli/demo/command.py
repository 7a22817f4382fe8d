"""Shows a word count over a stream of sentences, live, on topics in a directory of its own."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.live import Live
from rich.text import Text

from brookmere.cli import console
from brookmere.cli.demo.ending import tell_end
from brookmere.cli.demo.feeder import Feeder
from brookmere.cli.demo.place import Place
from brookmere.cli.demo.scene import Scene
from brookmere.cli.keyboard import pressed_keys
from brookmere.cli.load import load
from brookmere.cli.supervise import failure_told_once, start, stop_signals
from brookmere.record import Record
from brookmere.topics import Consumer

if TYPE_CHECKING:
    from brookmere.run.application import Application

_SHOWN_NEWS = 12
_LOOK_SECONDS = 0.05
# Without anyone to press a key, a demo that never shows a count has to end as well.
_PATIENCE_SECONDS = 180.0


def demo(
    seconds: Annotated[
        int, typer.Option(min=1, metavar="N", help="End so many seconds after the first counts.")
    ] = 60,
    directory: Annotated[
        Path | None,
        typer.Option(
            "--dir",
            metavar="DIR",
            help="Where to put everything; by default a new temporary directory.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Watch a word count over a stream of sentences.

    Needs nothing but this installation. Ends by itself after a minute, on any key or on Ctrl-C, and tells
    what it did, where the topics lie, and what to try next.

    \b
    Example:
      brookmere demo --seconds 20
    """
    place = Place.make(directory)
    console.out.print(Text("A word count over a stream of sentences.", style="bold"))
    console.write(f"Program: {place.program}")
    console.write(f"Topics:  {place.topics.directory}")
    # PySpark takes a second to load.
    from brookmere.run.application import Application

    logging.getLogger("brookmere.kernel.build").setLevel(logging.INFO)
    application = Application(load(str(place.program)), place.settings())
    scene = Scene()
    with (
        failure_told_once(),
        Feeder(place.topics) as feeder,
        place.counts() as consumer,
        stop_signals() as asked,
    ):
        _start(application, asked)
        try:
            _watch(application, scene, feeder, consumer, asked, seconds)
            feeder.stop()
            if application.state == "running":
                console.say("Stopping; the lines that still wait are counted first.", style="dim")
                application.process_all_available()
        finally:
            application.stop()
        scene.send(feeder.sent())
        scene.receive(consumer.poll(limit=1_000_000))
        scene.progress = application.progress()
    if application.error is not None:
        raise application.error
    tell_end(place, scene)


def _start(application: Application, asked: threading.Event) -> None:
    begun = time.monotonic()
    words = "Starting Spark; this takes some seconds."
    if console.out.is_terminal:
        with console.out.status(words):
            start(application, asked, lambda: None)
    else:
        console.write(words)
        console.out.file.flush()
        start(application, asked, lambda: None)
    console.write(f"Running after {time.monotonic() - begun:.0f} s.")


def _watch(
    application: Application,
    scene: Scene,
    feeder: Feeder,
    consumer: Consumer,
    asked: threading.Event,
    seconds: int,
) -> None:
    """Show what happens until the time is over, a key is pressed, or the application ends."""
    deadline = time.monotonic() + _PATIENCE_SECONDS + seconds
    has_begun = False
    with pressed_keys() as is_pressed, _shown(scene) as update:
        while time.monotonic() < deadline and not asked.is_set() and not is_pressed():
            if application.wait(_LOOK_SECONDS):
                return
            lines, counts = feeder.sent(), consumer.poll()
            scene.send(lines)
            scene.receive(counts)
            if scene.counting_since is not None and not has_begun:
                has_begun = True
                deadline = time.monotonic() + seconds
            scene.state, scene.progress = application.state, application.progress()
            scene.left = round(deadline - time.monotonic()) if has_begun else seconds
            update(lines, counts)


Update = Callable[[list[str], list[Record]], None]
"""Shows a scene again; given the lines and the counts that are new in it."""


@contextmanager
def _shown(scene: Scene) -> Iterator[Update]:
    if not console.out.is_terminal:
        yield _write_news
        return
    with Live(scene, console=console.out, screen=True, auto_refresh=False) as live:
        yield lambda *news: live.refresh()  # noqa: ARG005 - the scene has them


def _write_news(lines: list[str], counts: list[Record]) -> None:
    if len(lines) > _SHOWN_NEWS:
        console.write(f"lines   {len(lines) - _SHOWN_NEWS} came in before these")
    for line in lines[-_SHOWN_NEWS:]:
        console.write(f"line    {line}")
    if counts:
        latest = {record.key: record.value for record in counts}
        shown = ", ".join(f"{word} {n}" for word, n in itertools.islice(latest.items(), _SHOWN_NEWS))
        more = len(latest) - _SHOWN_NEWS
        console.write(f"counts  {shown}{f', and {more} more' if more > 0 else ''}")
    console.out.file.flush()
