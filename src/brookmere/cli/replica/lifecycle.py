"""Create a replica in this process, and keep it running until a signal."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from brookmere.cli.options.settings import place_of_topics
from brookmere.cli.programs.applications import Known
from brookmere.cli.programs.supervise import stop_signals
from brookmere.cli.replica.server_options import Serving, announce
from brookmere.cli.replica.view import LiveReplicaView, PlainReplicaView, ReplicaView
from brookmere.cli.terminal import console
from brookmere.errors import CommandError
from brookmere.state import Replica, StoreInfo
from brookmere.state.replica import places

_LOOK_SECONDS = 0.25


def replica_directory(known: Known, name: str) -> Path:
    """Return the directory for the files of a named replica."""
    if not name or "/" in name or name.startswith("."):
        raise CommandError(
            f"{name!r} cannot be the name of a replica.\n"
            "It becomes the name of a directory: choose a word such as standby-1."
        )
    return places.replica_directory(known.directory, name)


def make_replica(
    known: Known, stores: Sequence[StoreInfo], name: str, directory: Path | None, *, in_memory: bool
) -> Replica:
    """Return a replica that is not started yet.

    Raises:
        CommandError: there is nothing to follow, or a directory is given for a replica in memory.
    """
    if in_memory and directory is not None:
        raise CommandError(
            "--in-memory and --dir cannot be combined: a replica in memory has no files.\n"
            "Give only one of them."
        )
    if not stores:
        raise CommandError(
            f"The application {known.id} has no queryable stores.\n"
            "Only named stores can be queried: name them with store= in the program."
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
def store_errors_out_of_log() -> Iterator[None]:
    """Keep the errors of stores out of the log: the view shows them, or the command when it ends."""
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
    """Run a replica, and its server if it has one, until a signal or until it is ready."""
    if not quiet:
        console.say(
            f"{known.id}, replica {replica.name}: {place_of_topics(known.config)}; press Ctrl-C to stop."
        )
    with stop_signals() as stop_requested, store_errors_out_of_log(), replica, ExitStack() as held:
        if serving is not None:
            server = held.enter_context(serving.replica(known, replica))
            if not quiet:
                announce(server, known.id)
        _follow(replica, stop_requested, until_ready=until_ready, quiet=quiet)


def _follow(replica: Replica, stop_requested: threading.Event, *, until_ready: bool, quiet: bool) -> None:
    view = _view(quiet)
    with view.screen():
        while not stop_requested.is_set():
            view.show(replica.status())
            if until_ready and replica.is_ready:
                return
            stop_requested.wait(_LOOK_SECONDS)
        view.show(replica.status())


def _view(quiet: bool) -> ReplicaView:
    if quiet:
        return ReplicaView()
    return LiveReplicaView() if console.err.is_terminal else PlainReplicaView()
