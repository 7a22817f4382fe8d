"""What a start would do, without starting or changing anything."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from brookmere.config import Config
from brookmere.dsl.base_builder import Builder
from brookmere.run.evolution.comparison import Evolution, compare
from brookmere.run.evolution.compiled_identity import identity_of
from brookmere.run.evolution.identity import read_identity
from brookmere.run.launch.queryable_stores import queryable_stores
from brookmere.run.launch.start import plan_application, session_in_use
from brookmere.run.query.checkpoints import begun
from brookmere.state import StoreInfo
from brookmere.topology.nodes import Topology


def check_application(program: Builder | Topology, config: Config, directory: Path) -> Evolution | None:
    """Return what a start would do with the existing state, or None if there is none.

    Raises:
        TopologyError: the program is invalid, or its topics are missing or do not match.
        StateError: the state cannot be read.
    """
    planned = plan_application(program, config)
    before = read_identity(directory)
    if before is None:
        planned.needed.check()
        return None
    with session_in_use:
        # The previous version may be writing to its log.
        session = planned.session(None)
        compiled = planned.compile(session, registers=False)
        now = identity_of(compiled, session, {**before.topics, **planned.needed.ids}, directory)
    evolution = compare(before, now)
    if evolution.is_possible:
        planned.needed.check()
    if evolution.needs_move and begun(directory / before.checkpoint).is_unfinished:
        note = (
            "a batch of the previous version is not finished: stop that version cleanly, or, if it has "
            "already stopped, start it once more, before you start the new one"
        )
        return replace(evolution, notes=(note,))
    return evolution


def describe_stores(program: Builder | Topology, config: Config) -> tuple[StoreInfo, ...]:
    """Return what replicas need to know about the stores of a program.

    Raises:
        TopologyError: the program is invalid, or its topics are missing or do not match.
    """
    planned = plan_application(program, config)
    with session_in_use:
        compiled = planned.compile(planned.session(None), registers=False)
        return queryable_stores(compiled, config)
