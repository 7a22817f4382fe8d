"""Starts an application: from a program and its settings to a running query.

`start_application` plans the program and its topics, locks the state directory, compiles the program and
compares it with the version that ran before. Only then, when everything is validated, does it create topics,
migrate the state and start the query.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from pyspark.sql import SparkSession

from brookmere.config import Config
from brookmere.dsl.base_builder import Builder
from brookmere.errors import StateError
from brookmere.plan.stages import Plan, plan
from brookmere.run.compile.compiler import Compiled, LogStart, compile_plan
from brookmere.run.evolution.comparison import compare
from brookmere.run.evolution.compiled_identity import identity_of
from brookmere.run.evolution.identity import CHECKPOINT, Identity, has_positions, read_identity
from brookmere.run.evolution.migration import migrate
from brookmere.run.launch.changelogs import log_ids, log_starts, with_changelog_topics
from brookmere.run.launch.housekeeping import Housekeeping
from brookmere.run.launch.lock import DirectoryLock, lock_directory
from brookmere.run.launch.queryable_stores import queryable_stores
from brookmere.run.launch.start_offsets import has_start_offsets, read_start_offsets
from brookmere.run.launch.topics import TopicPlan, plan_topics
from brookmere.run.query.checkpoints import committed_positions
from brookmere.run.query.query import Query, QueryOptions, StartPoint, TopicsQuery
from brookmere.run.query.session import spark_session
from brookmere.run.query.transports import transport
from brookmere.serde.registered import registry_of
from brookmere.state import Position, StoreInfo
from brookmere.state.description.store_file import write_stores
from brookmere.topics import AnyTopics, Topics, open_topics
from brookmere.topics.times import now_ms
from brookmere.topology.nodes import StoreType, Topology

logger = logging.getLogger(__name__)

LOG = "spark.log"
session_in_use = threading.Lock()
"""A start changes settings of the session that applications share, so they start one at a time."""


@dataclass(frozen=True, slots=True)
class RunningApplication:
    """An application whose query was started, and what it has to release when it ends."""

    application: str
    config: Config
    query: Query
    """The first one; `restart` returns its successors."""
    topics: AnyTopics
    lock: DirectoryLock
    housekeeping: Housekeeping | None
    stores: tuple[StoreInfo, ...]
    """Those that can be queried."""
    started: int
    """When it was started, in milliseconds since 1970."""
    read_before: Position
    """How far the topics were processed before this start."""
    topics_query: TopicsQuery
    checkpoint: Path

    @property
    def directory(self) -> Path:
        """The state directory."""
        return self.lock.directory

    @property
    def log(self) -> Path:
        """The log file of Java and Spark."""
        return self.directory / LOG

    @property
    def skips(self) -> bool:
        """Whether failed records may be skipped."""
        sources = self.query.compiled.plan.topology.nodes
        return bool(self.config.continue_on) or any(
            getattr(node, "on_bad_record", None) == "continue" for node in sources
        )

    def restart(self, ended: Sequence[str]) -> Query:
        """Start the query again from its last commit; `ended` names the queries that have ended."""
        with session_in_use:
            return self.topics_query.start(
                self.checkpoint, StartPoint(read_start_offsets(self.directory, self.checkpoint), ended)
            )

    def release(self) -> None:
        """Release everything; the query has ended."""
        if self.housekeeping is not None:
            self.housekeeping.end()
        self.lock.release()


def start_application(program: Builder | Topology, config: Config, directory: Path) -> RunningApplication:
    """Start the query of a program; validate everything before it runs or writes anything.

    Raises:
        TopologyError: the program is invalid, or its topics are missing or do not match.
        StateError: the state directory cannot be used, or the application already runs there.
    """
    planned = plan_application(program, config)
    lock = lock_directory(directory, planned.name)
    try:
        return _start(planned, lock)
    except BaseException:
        lock.release()
        raise


def _start(planned: PlannedApplication, lock: DirectoryLock) -> RunningApplication:
    config, topics, needed, directory = planned.config, planned.topics, planned.needed, lock.directory
    started = now_ms()
    before = read_identity(directory)
    _refuse_without_offsets(planned, directory, before)
    with session_in_use:
        session = planned.session(directory / LOG)
        starts = log_starts(planned.plan, needed, topics, before)
        compiled = planned.compile(session, starts)
        stores = queryable_stores(compiled, config)
        known = {**(before.topics if before else {}), **needed.ids}
        now = identity_of(compiled, session, known, directory)
        evolution = None if before is None else compare(before, now)
        if evolution is not None:
            evolution.check(directory)
        needed.check()
        # Everything is validated. From here on the start changes topics and files.
        planned.create_topics()
        now = replace(
            now,
            topics={**now.topics, **{name: topics[name].id for name in planned.plan.topics}},
            changelogs=log_ids(planned.plan, starts, topics),
        )
        write_stores(directory, stores)
        topics_query = planned.query(compiled, session)
        checkpoint = migrate(directory, evolution, now, topics, topics_query)
        read_before = committed_positions(checkpoint)
        query = topics_query.start(checkpoint, StartPoint(read_start_offsets(directory, checkpoint)))
    return RunningApplication(
        application=planned.name,
        config=config,
        query=query,
        topics=topics,
        lock=lock,
        housekeeping=_start_housekeeping(planned),
        stores=stores,
        started=started,
        read_before=Position({topic: dict(enumerate(at)) for topic, at in read_before.items()}),
        topics_query=topics_query,
        checkpoint=checkpoint,
    )


@dataclass(frozen=True, slots=True)
class PlannedApplication:
    """A program with its settings, its plan and the topics that it needs. Nothing of it runs yet."""

    config: Config
    plan: Plan
    needed: TopicPlan
    topics: AnyTopics

    @property
    def name(self) -> str:
        """The application id."""
        return self.plan.topology.application_id

    def session(self, log: Path | None) -> SparkSession:
        """Return the Spark session of this process, started with the application's settings if need be."""
        config, cores = self.config, self.config.num_stream_threads
        session = spark_session(
            master=f"local[{cores}]",
            partitions=cores,
            log=log,
            settings=config.spark,
            kafka=config.on_kafka,
            jars=config.jars_dir,
        )
        running = session.sparkContext.defaultParallelism
        if running != cores and "spark.master" not in config.spark:
            logger.info(
                "the Spark session of this process has %d cores, num.stream.threads is %d", running, cores
            )
        return session

    def compile(
        self, session: SparkSession, starts: Mapping[str, LogStart] | None = None, *, registers: bool = True
    ) -> Compiled:
        """Return the compiled program; with `registers=False` it registers no schemas."""
        config = self.config
        return compile_plan(
            self.plan,
            session,
            continue_on=config.continue_on,
            last_per_batch=config.statestore_cache_max_bytes > 0,
            store_type=cast(StoreType, config.store_type),
            timestamps=config.default_timestamp_extractor,
            log_starts=starts,
            registry=registry_of(config),
            registers=registers,
        )

    def create_topics(self) -> None:
        """Create the topics that are missing."""
        for name, partitions in self.needed.new.items():
            self.topics.create(name, partitions, self.needed.settings.get(name), exist_ok=True)
            logger.info("created the topic %s with %d partitions", name, partitions)

    def query(self, compiled: Compiled, session: SparkSession) -> TopicsQuery:
        """Return the query of the application, ready to start."""
        config = self.config
        options = QueryOptions(
            reset=config.auto_offset_reset,
            lost=config.data_loss_handler,
            max_batch_records=config.max_batch_records,
            dead_letter=config.errors_dead_letter_queue_topic_name,
            interval_ms=config.commit_interval_ms,
            clock_ms=config.wall_clock_interval_ms,
            spark_partitions=min(config.num_stream_threads, self.plan.tasks),
        )
        ends = transport(config, self.topics, self.needed.new_partitions)
        return TopicsQuery(compiled, session, ends, self.name, options)


def plan_application(program: Builder | Topology, config: Config) -> PlannedApplication:
    """Build the program and plan its stages and topics; needs no Spark, and changes nothing.

    Raises:
        TopologyError: the program is invalid, or its topics are missing or do not match.
    """
    if isinstance(program, Builder):
        program = program.build(optimization=config.topology_optimization)
    elif config.topology_optimization != "none":
        logger.warning("topology.optimization has no effect on a topology that is already built")
    topology = replace(program, application_id=config.application_id or program.application_id)
    topics = open_topics(config)
    needed = plan_topics(topology, topics, config)
    planned, needed = with_changelog_topics(plan(topology, needed.partitions), needed, topics, config)
    return PlannedApplication(config, planned, needed, topics)


def _refuse_without_offsets(planned: PlannedApplication, directory: Path, before: Identity | None) -> None:
    checkpoint = directory / (before.checkpoint if before else CHECKPOINT)
    if planned.config.auto_offset_reset != "none" or has_positions(checkpoint):
        return
    if not has_start_offsets(directory):
        raise StateError(
            f"The application {planned.name!r} does not know where to start: it has no offsets yet in "
            f"{directory}, and auto.offset.reset is none. Set it to earliest or latest."
        )


def _start_housekeeping(planned: PlannedApplication) -> Housekeeping | None:
    if not isinstance(planned.topics, Topics):
        return None
    housekeeping = Housekeeping(planned.topics, written=planned.needed.written, read=planned.plan.topics)
    housekeeping.start()
    return housekeeping
