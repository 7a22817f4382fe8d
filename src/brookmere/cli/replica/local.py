"""Turns an application into a replica of its stores that runs in this process, until a signal ends it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from brookmere.cli.options.settings import place_of_topics
from brookmere.cli.programs.applications import Known
from brookmere.cli.programs.supervise import stop_signals
from brookmere.cli.replica.server_options import Serving, tell
from brookmere.cli.replica.view import LiveReplicaView, PlainReplicaView, ReplicaView
from brookmere.cli.terminal import console
from brookmere.errors import CommandError
from brookmere.state import Replica, StoreInfo
from brookmere.state.replica import places

_LOOK_SECONDS = 0.25


def replica_directory(known: Known, name: str) -> Path:
    """Return where a replica of a name keeps its files."""
    if not name or "/" in name or name.startswith("."):
        raise CommandError(
            f"{name!r} cannot be the name of a replica.\nIt becomes a directory: choose a word, as standby-1."
        )
    return places.replica_directory(known.directory, name)


def make_replica(
    known: Known, stores: Sequence[StoreInfo], name: str, directory: Path | None, *, in_memory: bool
) -> Replica:
    """Return a replica that has not begun yet.

    Raises:
        CommandError: there is nothing to follow, or a directory is given for what is kept in memory.
    """
    if in_memory and directory is not None:
        raise CommandError("--in-memory keeps no files, and --dir says where they lie.\nGive one of them.")
    if not stores:
        raise CommandError(
            f"The application {known.id} has no stores that can be asked.\n"
            "Only stores with a name have a changelog: give store= in the program."
        )
    place = replica_directory(known, name) if directory is None else directory
    return Replica(
        known.id,
        stores,
        known.topics(),
        None if in_memory else place.absolute(),
        in_memory=in_memory,
        registry=known.registry,
        name=name,
    )


@contextmanager
def troubles_in_view() -> Iterator[None]:
    """Keep what troubles a store out of the log: the view tells it, or the command when it ends."""
    logger = logging.getLogger("brookmere.state.replica.tail")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


def keep_replica(
    known: Known, replica: Replica, serving: Serving | None, *, until_ready: bool = False, quiet: bool = False
) -> None:
    """Let a replica follow its changelogs, and answer if it serves, until a signal comes or it is ready."""
    if not quiet:
        console.say(f"{known.id}, replica {replica.name}: {place_of_topics(known.config)}; Ctrl-C stops.")
    with stop_signals() as asked, troubles_in_view(), replica, ExitStack() as held:
        if serving is not None:
            server = held.enter_context(serving.replica(known, replica))
            if not quiet:
                tell(server, known.id)
        _follow(replica, asked, until_ready=until_ready, quiet=quiet)


def _follow(replica: Replica, asked: threading.Event, *, until_ready: bool, quiet: bool) -> None:
    view = _view(quiet)
    with view.screen():
        while not asked.is_set():
            view.show(replica.status())
            if until_ready and replica.is_ready:
                return
            asked.wait(_LOOK_SECONDS)
        view.show(replica.status())


def _view(quiet: bool) -> ReplicaView:
    if quiet:
        return ReplicaView()
    return LiveReplicaView() if console.err.is_terminal else PlainReplicaView()
