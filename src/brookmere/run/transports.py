"""The kinds of topics a query can run on, as its source and its sink know them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from py4j.protocol import Py4JJavaError

from brookmere.config import Config, client_settings
from brookmere.plan.stages import Plan
from brookmere.run.checkpoints import Begun
from brookmere.run.failures import from_python
from brookmere.topics import AnyTopics, Topics


class Transport(Protocol):
    """Where a query reads and writes."""

    format: ClassVar[str]
    """The name under which Spark finds the source and the sink."""

    def options(self) -> dict[str, str]:
        """Return what the source must be told. Spark shows it, so there are no secrets in it."""

    def open(self, jvm: Any, name: str, application: str, plan: Plan, lanes: int, at: Begun) -> Any:
        """Prepare a run called `name` that goes on `at` a batch, and return what the JVM's sink must know."""

    def close(self, jvm: Any, name: str) -> None:
        """Give back what a run has open."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """The topics in a directory; those that records are routed to are created with `new_partitions`."""

    format: ClassVar[str] = "brookmere.topics"

    directory: Path
    new_partitions: int = 1

    def options(self) -> dict[str, str]:
        return {"dir": str(self.directory.resolve())}

    def open(self, jvm: Any, name: str, application: str, plan: Plan, lanes: int, at: Begun) -> Any:  # noqa: ARG002
        return jvm.brookmere.topics.EmbeddedPlace(str(self.directory.resolve()), self.new_partitions)

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

    def open(self, jvm: Any, name: str, application: str, plan: Plan, lanes: int, at: Begun) -> Any:
        # Kafka's client is loaded only by those who use it.
        from brookmere.topics.kafka.login import principal

        config = self.config
        admin = client_settings(config, "admin")
        exactly_once = config.processing_guarantee == "exactly_once_v2"
        place = jvm.brookmere.kafka.KafkaPlace(
            application,
            name,
            {topic: plan.partitions[topic] for topic in plan.topics},
            lanes,
            len(plan.stages) > 1,
            exactly_once,
            self.new_partitions,
            config.replication_factor,
            config.task_timeout_ms,
            principal(admin),
            admin,
            client_settings(config, "consumer"),
            client_settings(config, "producer"),
        )
        jvm.brookmere.kafka.KafkaPlaces.register(place)
        if exactly_once:
            unfinished = at.since_ms if at.is_unfinished else -1
            try:
                jvm.brookmere.kafka.Lanes.takeOver(place, at.query or "", at.batch, unfinished)
            except Py4JJavaError as error:
                self.close(jvm, name)
                raise from_python(error) from error
        return place

    def close(self, jvm: Any, name: str) -> None:
        jvm.brookmere.kafka.KafkaPlaces.forget(name)


def transport(config: Config, topics: AnyTopics, new_partitions: int) -> Transport:
    """Return the transport of an application's topics."""
    if isinstance(topics, Topics):
        return Embedded(topics.directory, new_partitions)
    return OnKafka(config, new_partitions)
