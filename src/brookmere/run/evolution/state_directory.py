"""Turns the state directory of an application into one that the version at hand can go on with."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from brookmere.run.evolution.comparison import Evolution
from brookmere.run.evolution.identity import CHECKPOINT, Identity, has_positions, write_identity
from brookmere.run.evolution.migration import move, next_checkpoint, stand_of, sweep
from brookmere.run.evolution.relocation import relocate
from brookmere.run.query.query import Query
from brookmere.topics import AnyTopics

logger = logging.getLogger(__name__)


def settle(
    directory: Path,
    evolution: Evolution | None,
    now: Identity,
    topics: AnyTopics,
    launch: Callable[..., Query],
) -> Path:
    """Bring the state into the form that the program needs, put down what it is, and return the checkpoint.

    A new form is made beside the old one. The file that tells what the application is also tells which of
    them counts, so a process that ends in the midst leaves the one or the other whole.

    Raises:
        StateError: the last batch of the version before must be finished by it, or the state cannot be read.
    """
    if evolution is None:
        write_identity(directory, now)
        return directory / CHECKPOINT
    current = directory / evolution.before.checkpoint
    sweep(directory, current.name)
    if evolution.before.place != now.place:
        relocate(current)
    if evolution.needs_move and has_positions(current):
        stand = stand_of(current, now.application, topics)
        if stand is None:
            # It has never finished a batch, and so has neither state nor positions.
            shutil.rmtree(current)
        else:
            target = next_checkpoint(directory, current.name)
            logger.info("%s: the state is brought into the form that the program needs", now.application)
            move(evolution, stand, partial(launch, target))
            current = target
    write_identity(directory, replace(now, checkpoint=current.name))
    sweep(directory, current.name)
    for finding in evolution.changes:
        level = logging.WARNING if finding.outcome == "dropped" else logging.INFO
        logger.log(level, "%s: store %s: %s", now.application, finding.store, finding)
    return current
