"""The word count demo: count the words of a stream of sentences, live."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from rich.live import Live
from rich.text import Text

from brookmere.cli.demo.directory import Place
from brookmere.cli.demo.feeder import Feeder, poem
from brookmere.cli.demo.scene import Scene
from brookmere.cli.demo.start import start_with_notice
from brookmere.cli.demo.summary import write_summary
from brookmere.cli.programs.load import load
from brookmere.cli.programs.supervise import failure_out_of_log, stop_signals
from brookmere.cli.terminal import console
from brookmere.cli.terminal.keyboard import pressed_keys
from brookmere.record import Record
from brookmere.topics import Consumer

if TYPE_CHECKING:
    from brookmere.run.application import Application

_SHOWN_NEWS = 12
_LOOK_SECONDS = 0.05
_LINES_PER_SECOND = 2.5
# Even if no count ever arrives and nobody presses a key, the demo must end.
_PATIENCE_SECONDS = 180.0


def watch_word_count(seconds: int, directory: Path | None) -> None:
    """Count words until the time is up, a key is pressed or a signal arrives."""
    place = Place.make(directory)
    console.out.print(Text("A word count over a stream of sentences.", style="bold"))
    console.write(f"Program: {place.program}")
    console.write(f"Topics:  {place.topics.directory}")
    # Importing PySpark takes a second.
    from brookmere.run.application import Application

    logging.getLogger("brookmere.kernel.build").setLevel(logging.INFO)
    application = Application(load(str(place.program)), place.settings())
    scene = Scene()
    with (
        failure_out_of_log(),
        Feeder(place.topics, poem, per_second=_LINES_PER_SECOND) as feeder,
        place.counts() as consumer,
        stop_signals() as stop_requested,
    ):
        start_with_notice(application, stop_requested)
        try:
            _watch(application, scene, feeder, consumer, stop_requested, seconds)
            feeder.stop()
            if application.state == "running":
                console.say("Stopping after the remaining lines are counted.", style="dim")
                application.process_all_available()
        finally:
            application.stop()
        scene.send(feeder.sent())
        scene.receive(consumer.poll(limit=1_000_000))
        scene.progress = application.progress()
    if application.error is not None:
        raise application.error
    write_summary(place, scene)


def _watch(
    application: Application,
    scene: Scene,
    feeder: Feeder,
    consumer: Consumer,
    stop_requested: threading.Event,
    seconds: int,
) -> None:
    """Show what happens until the time is up, a key is pressed, or the application ends."""
    deadline = time.monotonic() + _PATIENCE_SECONDS + seconds
    has_begun = False
    with pressed_keys() as is_pressed, _shown(scene) as update:
        while time.monotonic() < deadline and not stop_requested.is_set() and not is_pressed():
            if application.wait(timedelta(seconds=_LOOK_SECONDS)):
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
"""Refreshes the display; takes the new lines and counts."""


@contextmanager
def _shown(scene: Scene) -> Iterator[Update]:
    if not console.out.is_terminal:
        yield _write_news
        return
    with Live(scene, console=console.out, screen=True, auto_refresh=False) as live:
        yield lambda *news: live.refresh()  # noqa: ARG005 - the scene has them


def _write_news(lines: list[str], counts: list[Record]) -> None:
    if len(lines) > _SHOWN_NEWS:
        console.write(f"lines   {len(lines) - _SHOWN_NEWS} more before these")
    for line in lines[-_SHOWN_NEWS:]:
        console.write(f"line    {line}")
    if counts:
        latest = {record.key: record.value for record in counts}
        shown = ", ".join(f"{word} {n}" for word, n in itertools.islice(latest.items(), _SHOWN_NEWS))
        more = len(latest) - _SHOWN_NEWS
        console.write(f"counts  {shown}{f', and {more} more' if more > 0 else ''}")
    console.out.file.flush()
