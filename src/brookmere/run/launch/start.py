"""Turns a program and its settings into a running query, or into everything that speaks against it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from pyspark.sql import SparkSession

from brookmere.config import Config
from brookmere.dsl.program import Builder
from brookmere.errors import StateError
from brookmere.plan.stages import Plan, plan
from brookmere.run.compile.compiler import Compiled, LogStart, compile_plan
from brookmere.run.evolution.comparison import Evolution, compare
from brookmere.run.evolution.identity import CHECKPOINT, has_positions, read_identity
from brookmere.run.evolution.state_directory import settle
from brookmere.run.evolution.store_forms import identity_of
from brookmere.run.launch.changelogs import log_ids, log_starts, logged
from brookmere.run.launch.housekeeping import Housekeeping
from brookmere.run.launch.lock import Instance, hold
from brookmere.run.launch.queryable import queryable
from brookmere.run.launch.start_offsets import begin_of, has_begin
from brookmere.run.launch.topics import TopicPlan, plan_topics
from brookmere.run.query.checkpoints import begun, committed_positions
from brookmere.run.query.query import Query
from brookmere.run.query.session import spark_session
from brookmere.run.query.topics_query import launch
from brookmere.run.query.transports import transport
from brookmere.serde.registered import registry_of
from brookmere.state import Position, StoreInfo
from brookmere.state.description.store_file import write_stores
from brookmere.topics import AnyTopics, Topics, open_topics
from brookmere.topics.times import now_ms
from brookmere.topology.nodes import StoreType, Topology

logger = logging.getLogger(__name__)

LOG = "spark.log"
# A query takes settings of the session that applications share, so they start one after the other.
_launching = threading.Lock()


@dataclass(frozen=True, slots=True)
class Launched:
    """A query that runs, and what has to be given back when it ends."""

    application: str
    config: Config
    query: Query
    topics: AnyTopics
    instance: Instance
    housekeeping: Housekeeping | None
    stores: tuple[StoreInfo, ...]
    """Those that can be asked."""
    started: int
    """When it was started, in milliseconds since 1970."""
    read_before: Position
    """How far the topics were processed before this start."""
    again: Callable[[Sequence[str]], Query]
    """Starts the query once more, at its positions. The argument names the queries that have ended."""

    @property
    def log(self) -> Path:
        """The file with what Java and Spark say."""
        return self.instance.directory / LOG

    @property
    def skips(self) -> bool:
        """Tell whether there is a handler that skips records."""
        sources = self.query.compiled.plan.topology.nodes
        return bool(self.config.continue_on) or any(
            getattr(node, "on_bad_record", None) == "continue" for node in sources
        )

    def release(self) -> None:
        """Give everything back; the query has ended."""
        if self.housekeeping is not None:
            self.housekeeping.end()
        self.instance.release()


def launch_application(program: Builder | Topology, config: Config, directory: Path) -> Launched:
    """Start the query of a program; what is wrong is told before anything runs or is written.

    Raises:
        TopologyError: the program is wrong, its topics are missing or do not fit together.
        StateError: the state directory cannot be used, or the application runs there already.
    """
    planned, needed, topics = _planned(program, config)
    instance = hold(directory, planned.topology.application_id)
    try:
        return _launch(planned, needed, topics, config, instance)
    except BaseException:
        instance.release()
        raise


def _planned(program: Builder | Topology, config: Config) -> tuple[Plan, TopicPlan, AnyTopics]:
    topology = _topology(program, config)
    topics = open_topics(config)
    needed = plan_topics(topology, topics, config)
    return *logged(plan(topology, needed.partitions), needed, topics, config), topics


def _topology(program: Builder | Topology, config: Config) -> Topology:
    if isinstance(program, Builder):
        program = program.build(optimization=config.topology_optimization)
    elif config.topology_optimization != "none":
        logger.warning("topology.optimization has no effect on a topology, which is built already")
    return replace(program, application_id=config.application_id or program.application_id)


def _launch(
    planned: Plan, needed: TopicPlan, topics: AnyTopics, config: Config, instance: Instance
) -> Launched:
    application = planned.topology.application_id
    directory = instance.directory
    started = now_ms()
    before = read_identity(directory)
    current = directory / (before.checkpoint if before else CHECKPOINT)
    if config.auto_offset_reset == "none" and not (has_positions(current) or has_begin(directory)):
        raise StateError(
            f"The application {application!r} does not know where to begin: it has no positions yet in "
            f"{directory}, and auto.offset.reset is none. Set it to earliest or latest."
        )
    cores = config.num_stream_threads
    with _launching:
        session = _session(config, directory / LOG)
        starts = log_starts(planned, needed, topics, before)
        compiled = _compiled(planned, session, config, starts)
        stores = queryable(compiled, config)
        now = identity_of(compiled, session, {**(before.topics if before else {}), **needed.ids}, directory)
        evolution = None if before is None else compare(before, now)
        if evolution is not None:
            evolution.check(directory)
        needed.check()
        for name, partitions in needed.new.items():
            topics.create(name, partitions, needed.settings.get(name), exist_ok=True)
            logger.info("created the topic %s with %d partitions", name, partitions)
        now = replace(
            now,
            topics={**now.topics, **{name: topics[name].id for name in planned.topics}},
            changelogs=log_ids(planned, starts, topics),
        )

        write_stores(directory, stores)

        def start(checkpoint: Path, **options: Any) -> Query:
            return launch(
                compiled,
                session=session,
                topics=transport(config, topics, needed.new_partitions),
                application=application,
                checkpoint=checkpoint,
                reset=config.auto_offset_reset,
                lost=config.data_loss_handler,
                max_batch_records=config.max_batch_records,
                dead_letter=config.errors_dead_letter_queue_topic_name,
                interval_ms=config.commit_interval_ms,
                clock_ms=config.wall_clock_interval_ms,
                spark_partitions=min(cores, planned.tasks),
                **options,
            )

        checkpoint = settle(directory, evolution, now, topics, start)
        before_start = committed_positions(checkpoint)
        query = start(checkpoint, begin=begin_of(directory, checkpoint))

    def again(before: Sequence[str]) -> Query:
        with _launching:
            return start(checkpoint, begin=begin_of(directory, checkpoint), before=before)

    housekeeping = None
    if isinstance(topics, Topics):
        housekeeping = Housekeeping(topics, written=needed.written, read=planned.topics)
        housekeeping.start()
    read_before = Position({topic: dict(enumerate(at)) for topic, at in before_start.items()})
    return Launched(
        application, config, query, topics, instance, housekeeping, stores, started, read_before, again
    )  # fmt: skip


def check_application(program: Builder | Topology, config: Config, directory: Path) -> Evolution | None:
    """Tell what a program would do with the state there is; None if there is none. Nothing is changed.

    Raises:
        TopologyError: the program is wrong, its topics are missing or do not fit together.
        StateError: the state cannot be read.
    """
    planned, needed, _ = _planned(program, config)
    before = read_identity(directory)
    if before is None:
        needed.check()
        return None
    with _launching:
        # The version before may be writing to its log.
        session = _session(config, None)
        compiled = _compiled(planned, session, config, registers=False)
        evolution = compare(
            before, identity_of(compiled, session, {**before.topics, **needed.ids}, directory)
        )
    if not evolution.problems and not evolution.refusals:
        needed.check()
    if evolution.needs_move and begun(directory / before.checkpoint).is_unfinished:
        note = (
            "a batch of the version before is not finished: stop it in good order, or, if it has stopped, "
            "start it once more, before the new one"
        )
        return replace(evolution, notes=(note,))
    return evolution


def describe_stores(program: Builder | Topology, config: Config) -> tuple[StoreInfo, ...]:
    """Tell what replicas have to know of the stores of a program. Nothing is started or changed.

    Raises:
        TopologyError: the program is wrong, its topics are missing or do not fit together.
    """
    planned, _, _ = _planned(program, config)
    with _launching:
        return queryable(_compiled(planned, _session(config, None), config, registers=False), config)


def _compiled(
    planned: Plan,
    session: SparkSession,
    config: Config,
    starts: Mapping[str, LogStart] | None = None,
    *,
    registers: bool = True,
) -> Compiled:
    return compile_plan(
        planned,
        session,
        continue_on=config.continue_on,
        last_per_batch=config.statestore_cache_max_bytes > 0,
        store_type=cast(StoreType, config.store_type),
        timestamps=config.default_timestamp_extractor,
        log_starts=starts,
        registry=registry_of(config),
        registers=registers,
    )


def _session(config: Config, log: Path | None) -> SparkSession:
    cores = config.num_stream_threads
    session = spark_session(
        master=f"local[{cores}]", partitions=cores, log=log, settings=config.spark, kafka=config.on_kafka,
        jars=config.jars_dir,
    )  # fmt: skip
    running = session.sparkContext.defaultParallelism
    if running != cores and "spark.master" not in config.spark:
        logger.info(
            "the Spark session of this process has %d cores, num.stream.threads is %d", running, cores
        )
    return session
