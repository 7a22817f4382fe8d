"""The kinds of topics that a query can run on: embedded topics and Kafka."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from py4j.protocol import Py4JJavaError

from brookmere.config import Config, client_settings
from brookmere.plan.stages import Plan
from brookmere.run.expressions.faults import silenced
from brookmere.run.jvm import to_java
from brookmere.run.query.checkpoints import Begun
from brookmere.run.query.failures import from_python
from brookmere.topics import AnyTopics, Topics
from brookmere.topology.nodes import SourceNode


class Transport(Protocol):
    """Where a query reads and writes."""

    format: ClassVar[str]
    """The name of the source and the sink in Spark."""

    def options(self) -> dict[str, str]:
        """Return the options of the source. Spark shows them, so they contain no secrets."""

    def open(
        self,
        jvm: Any,
        name: str,
        application: str,
        plan: Plan,
        lanes: int,
        at: Begun,
        before: Sequence[str],
    ) -> Any:
        """Prepare a query called `name` that resumes `at` a batch, and return what the JVM's sink needs.

        `before` names the earlier queries of the same run. If there are any, and another instance has taken
        over in the meantime, this one does not take over again.
        """

    def notices(self, jvm: Any, name: str) -> list[str]:
        """Return what to log about a query since the last call."""

    def close(self, jvm: Any, name: str) -> None:
        """Close what a query has open."""


@dataclass(frozen=True, slots=True)
class SinkSpec:
    """A sink as the kernel registers it."""

    java_class: ClassVar[str] = "brookmere.kernel.transport.SinkSpec"
    name: str
    application: str
    nodes: Sequence[str]
    dead_letter: str | None


@dataclass(frozen=True, slots=True)
class EmbeddedPlace:
    """Where a query writes in a directory."""

    java_class: ClassVar[str] = "brookmere.kernel.transport.EmbeddedPlace"
    directory: str
    new_partitions: int


@dataclass(frozen=True, slots=True)
class KafkaTopicSpec:
    java_class: ClassVar[str] = "brookmere.kernel.kafka.KafkaTopicSpec"
    partitions: Mapping[str, int]
    patterns: Sequence[str]
    new_partitions: int
    replication: int


@dataclass(frozen=True, slots=True)
class KafkaWriteSpec:
    java_class: ClassVar[str] = "brookmere.kernel.kafka.KafkaWriteSpec"
    lanes: int
    by_task: bool
    exactly_once: bool
    before: Sequence[str]


@dataclass(frozen=True, slots=True)
class KafkaClientSpec:
    java_class: ClassVar[str] = "brookmere.kernel.kafka.KafkaClientSpec"
    principal: str
    wait_ms: int
    admin: Mapping[str, str] = field(repr=False)
    consumer: Mapping[str, str] = field(repr=False)
    producer: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class KafkaPlace:
    """Where a query reads and writes on Kafka, as `kernel/kafka/KafkaPlace.scala` describes it."""

    java_class: ClassVar[str] = "brookmere.kernel.kafka.KafkaPlace"
    application: str
    run: str
    topics: KafkaTopicSpec
    writes: KafkaWriteSpec
    clients: KafkaClientSpec


@dataclass(frozen=True, slots=True)
class Embedded:
    """Topics in a directory; topics that records name are created with `new_partitions`."""

    format: ClassVar[str] = "brookmere.topics"

    directory: Path
    new_partitions: int = 1

    def options(self) -> dict[str, str]:
        return {"dir": str(self.directory.resolve())}

    def open(
        self,
        jvm: Any,
        name: str,  # noqa: ARG002
        application: str,  # noqa: ARG002
        plan: Plan,  # noqa: ARG002
        lanes: int,  # noqa: ARG002
        at: Begun,  # noqa: ARG002
        before: Sequence[str],  # noqa: ARG002
    ) -> Any:
        return to_java(jvm, EmbeddedPlace(str(self.directory.resolve()), self.new_partitions))

    def notices(self, jvm: Any, name: str) -> list[str]:  # noqa: ARG002
        return []

    def close(self, jvm: Any, name: str) -> None:
        pass


@dataclass(frozen=True, slots=True)
class OnKafka:
    """The topics of a Kafka cluster."""

    format: ClassVar[str] = "brookmere.kafka"

    config: Config
    new_partitions: int = 1

    def options(self) -> dict[str, str]:
        return {}

    def open(
        self,
        jvm: Any,
        name: str,
        application: str,
        plan: Plan,
        lanes: int,
        at: Begun,
        before: Sequence[str],
    ) -> Any:
        try:
            with _unlogged():
                place = self._place(jvm, name, application, plan, lanes, before)
            jvm.brookmere.kernel.kafka.KafkaPlaces.register(place)
            if self.config.processing_guarantee == "exactly_once_v2":
                unfinished = at.since_ms if at.is_unfinished else -1
                jvm.brookmere.kernel.kafka.Lanes.takeOver(place, at.query or "", at.batch, unfinished)
        except Py4JJavaError as error:
            self.close(jvm, name)
            raise from_python(error) from error
        return place

    def _place(
        self, jvm: Any, name: str, application: str, plan: Plan, lanes: int, before: Sequence[str]
    ) -> Any:
        # Only applications on Kafka load its client.
        from brookmere.topics.kafka.login import principal

        config = self.config
        admin = client_settings(config, "admin")
        patterns = {node.pattern for node in plan.topology.nodes if isinstance(node, SourceNode)}
        place = KafkaPlace(
            application=application,
            run=name,
            topics=KafkaTopicSpec(
                partitions={topic: plan.partitions[topic] for topic in plan.topics},
                patterns=[pattern for pattern in patterns if pattern is not None],
                new_partitions=self.new_partitions,
                replication=config.replication_factor,
            ),
            writes=KafkaWriteSpec(
                lanes=lanes,
                by_task=len(plan.chains) > 1,
                exactly_once=config.processing_guarantee == "exactly_once_v2",
                before=before,
            ),
            clients=KafkaClientSpec(
                principal=principal(admin),
                wait_ms=config.task_timeout_ms,
                admin=admin,
                consumer=client_settings(config, "consumer"),
                producer=client_settings(config, "producer"),
            ),
        )
        return to_java(jvm, place)

    def notices(self, jvm: Any, name: str) -> list[str]:
        return str(jvm.brookmere.kernel.kafka.Notices.take(name)).splitlines()

    def close(self, jvm: Any, name: str) -> None:
        jvm.brookmere.kernel.kafka.KafkaPlaces.forget(name)


def transport(config: Config, topics: AnyTopics, new_partitions: int) -> Transport:
    """Return the transport of an application's topics."""
    if isinstance(topics, Topics):
        return Embedded(topics.directory, new_partitions)
    return OnKafka(config, new_partitions)


def _unlogged() -> AbstractContextManager[None]:
    """Keep Py4J from logging what it sends, as it does on the level DEBUG: it contains passwords."""
    return silenced([logging.getLogger(name) for name in ("py4j.clientserver", "py4j.java_gateway")])
