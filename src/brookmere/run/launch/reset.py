"""Resets an application: plans from where it will read and what to delete, and then does it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from brookmere.config import Config
from brookmere.dsl.base_builder import Builder
from brookmere.errors import CommandError, InstanceError, StateError
from brookmere.names import nearest
from brookmere.plan.changelogs import changelog_topic
from brookmere.run.evolution.identity import Identity, has_positions, read_identity
from brookmere.run.launch.lock import lock_directory
from brookmere.run.launch.start_offsets import START_OFFSETS, write_start_offsets
from brookmere.run.launch.topics import source_topics
from brookmere.run.query.checkpoints import committed_positions
from brookmere.state.replica.places import LOCAL, REPLICAS
from brookmere.topics import AnyTopic, Topics, open_topics
from brookmere.topology.nodes import Topology

if TYPE_CHECKING:
    from brookmere.topics.kafka import KafkaTopics

Target = Callable[[AnyTopic], list[int]]
"""Returns the offset of each partition from which to read a topic."""

# The lock and the log of Spark are for people; they do not affect the next start.
_KEPT = frozenset({"lock", "spark.log", START_OFFSETS})


@dataclass(frozen=True, slots=True)
class Move:
    """The current offset of an application in a partition, or None, and the offset after the reset."""

    topic: str
    partition: int
    old: int | None
    new: int


@dataclass(frozen=True, slots=True)
class Reset:
    """Everything a reset will do."""

    application: str
    directory: Path
    moves: tuple[Move, ...]
    ids: Mapping[str, str]
    topics: tuple[str, ...]
    """Internal topics to delete."""
    left: tuple[str, ...]
    """Topics that look like internal ones, but belong to no known store; they are kept."""
    paths: tuple[Path, ...]
    """Files and directories of the state to delete."""
    groups: tuple[str, ...]
    """Kafka consumer groups to delete."""
    on_kafka: bool

    @property
    def offsets(self) -> dict[str, list[int]]:
        """The offsets after the reset, by topic."""
        found: dict[str, list[int]] = {}
        for move in self.moves:
            found.setdefault(move.topic, []).append(move.new)
        return found


def plan_reset(
    program: Builder | Topology,
    config: Config,
    directory: Path,
    target: Target,
    only: Sequence[str] | None = None,
) -> Reset:
    """Return what a reset will do, without doing it.

    `only` are the topics to reset; the others are read from the current offsets of the application.

    Raises:
        InstanceError: the application runs.
        CommandError: `only` names topics that the program does not read.
        TopicError: topics cannot be read.
    """
    topology = (
        program.build(optimization=config.topology_optimization) if isinstance(program, Builder) else program
    )
    application = config.application_id or topology.application_id
    topics = open_topics(config)
    if directory.is_dir():
        lock_directory(directory, application).release()
    _refuse_members(topics, application)
    there = topics.names()
    read = source_topics(topology, application, there)
    _check_only(only, [*read])
    before = _identity(directory)
    current = _current_offsets(directory, before, topics, application)
    moves: list[Move] = []
    ids: dict[str, str] = {}
    for name, source in read.items():
        topic = topics[name]
        old = current.get(name)
        if source.is_global:
            # A global table is always filled from the beginning.
            new = topic.start_offsets()
        elif only is None or name in only:
            new = target(topic)
        elif old is not None:
            new = [old[p] if p < len(old) else 0 for p in range(topic.partitions)]
        else:
            continue
        ids[name] = topic.id
        moves += [
            Move(name, partition, old[partition] if old and partition < len(old) else None, offset)
            for partition, offset in enumerate(new)
        ]
    own, left = _internal(application, topology, before, there)
    return Reset(
        application,
        directory,
        tuple(moves),
        ids,
        own,
        left,
        tuple(_state(directory)),
        _marks(topics, application),
        config.on_kafka,
    )


def execute(reset: Reset, config: Config) -> None:
    """Reset the application, while it is locked against starting.

    The new offsets are written first: a reset that was interrupted can be repeated.

    Raises:
        InstanceError: the application runs.
    """
    topics = open_topics(config)
    lock = lock_directory(reset.directory, reset.application)
    try:
        _refuse_members(topics, reset.application)
        write_start_offsets(reset.directory, reset.ids, reset.offsets)
        for path in _state(reset.directory):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        for name in reset.topics:
            if name in topics:
                topics.delete(name)
        if not isinstance(topics, Topics):
            topics.groups.delete(reset.groups)
            topics.groups.set_offsets(reset.application, reset.offsets)
    except OSError as error:
        raise StateError(
            f"The state of the application {reset.application!r} in {reset.directory} cannot be removed. "
            f"Found: {error.strerror or error}. Correct the permissions, and reset it again."
        ) from error
    finally:
        lock.release()


def _check_only(only: Sequence[str] | None, read: Sequence[str]) -> None:
    for name in only or ():
        if name not in read:
            close = nearest(name, read)
            hint = f"Did you mean {close!r}?" if close else f"It reads: {', '.join(read) or 'nothing'}."
            raise CommandError(f"The program does not read the topic {name!r}.\n{hint}")


def _identity(directory: Path) -> Identity | None:
    try:
        return read_identity(directory)
    except StateError:
        # A damaged one is removed anyway.
        return None


def _current_offsets(
    directory: Path, before: Identity | None, topics: Topics | KafkaTopics, application: str
) -> dict[str, list[int]]:
    """Return the current offsets of the application, as far as they are known."""
    if before is not None and has_positions(directory / before.checkpoint):
        return committed_positions(directory / before.checkpoint)
    if isinstance(topics, Topics):
        return {}
    found: dict[str, list[int]] = {}
    for (topic, partition), offset in sorted(topics.groups.offsets(application).items()):
        offsets = found.setdefault(topic, [])
        offsets += [0] * (partition - len(offsets))
        offsets.append(offset)
    return found


def _internal(
    application: str, topology: Topology, before: Identity | None, there: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    stores = {store.name for store in topology.stores} | set(before.stores if before else ())
    own = {changelog_topic(application, store) for store in stores}
    alike = re.compile(re.escape(application) + "-.+-(changelog|repartition)")
    return (
        tuple(name for name in there if name in own),
        tuple(name for name in there if name not in own and alike.fullmatch(name)),
    )


def _state(directory: Path) -> Iterator[Path]:
    for path in sorted(directory.iterdir()) if directory.is_dir() else ():
        if path.name == REPLICAS:
            # Other replicas may be in use: they notice that their changelogs were recreated, and start over.
            yield from path.glob(LOCAL)
        elif path.name not in _KEPT:
            yield path


def _marks(topics: Topics | KafkaTopics, application: str) -> tuple[str, ...]:
    if isinstance(topics, Topics):
        return ()
    lane = re.compile(re.escape(application) + r"-sink-\d+")
    return tuple(name for name in topics.groups.names() if lane.fullmatch(name))


def _refuse_members(topics: Topics | KafkaTopics, application: str) -> None:
    members = [] if isinstance(topics, Topics) else topics.groups.members(application)
    if members:
        raise InstanceError(
            f"The application {application!r} cannot be reset while it runs. Found: the consumer group "
            f"{application!r} has the members {', '.join(members)}. Stop them first."
        )
