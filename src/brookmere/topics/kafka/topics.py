"""Topics in a Kafka cluster: create, open, list and delete them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from confluent_kafka import TopicCollection
from confluent_kafka.admin import NewTopic

from brookmere.errors import TopicExistsError, UnknownTopicError
from brookmere.serde import Serde
from brookmere.topics.any_topics import Start
from brookmere.topics.kafka.connection import Connection
from brookmere.topics.kafka.consumer import KafkaConsumer
from brookmere.topics.kafka.failures import Asked
from brookmere.topics.kafka.groups import Groups
from brookmere.topics.kafka.topic import KafkaTopic
from brookmere.topics.topic_set import TopicSet, check_name, check_new

# Kafka's internal topics, which patterns never match.
_INTERNAL = frozenset(
    {"__cluster_metadata", "__consumer_offsets", "__share_group_state", "__transaction_state"}
)
_LOOK_SECONDS = 0.05


class KafkaTopics(TopicSet):
    """The topics of a Kafka cluster. `settings` uses the names of Kafka's own clients.

    `consumer` and `producer` override settings for reading and writing. `replication` is the replication
    factor of new topics; -1 uses the cluster's default. `file` is the file with the settings, for errors
    that suggest a command.

    >>> topics = KafkaTopics({"bootstrap.servers": "localhost:9092"})
    >>> topics.command("create orders --partitions 4")
    'brookmere topics create orders --partitions 4 --bootstrap-server localhost:9092'
    """

    def __init__(
        self,
        settings: Mapping[str, str],
        *,
        consumer: Mapping[str, str] | None = None,
        producer: Mapping[str, str] | None = None,
        replication: int = -1,
        file: Path | None = None,
    ) -> None:
        self._connection = Connection(settings, consumer, producer, file)
        self._replication = replication

    @property
    def bootstrap_servers(self) -> str:
        """The addresses of the cluster."""
        return self._connection.brokers

    def __repr__(self) -> str:
        return f"KafkaTopics({self.bootstrap_servers!r})"

    @property
    def groups(self) -> Groups:
        """The consumer groups of the cluster."""
        return Groups(self._connection)

    def command(self, rest: str) -> str:
        """Return the shell command that runs `brookmere topics` on these topics, for error messages."""
        return self._connection.command(rest)

    def names(self) -> list[str]:
        """Return the names of all topics that this user may see, sorted, without Kafka's internal ones."""
        return sorted(name for name in self._connection.metadata().topics if name not in _INTERNAL)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._connection.metadata().topics

    def __getitem__(self, name: str) -> KafkaTopic:
        check_name(name)
        asked = Asked(f"The topic {name!r} cannot be opened", "Describe", "topic", name)
        try:
            found = self._connection.answer(
                lambda: self._connection.admin.describe_topics(TopicCollection([name]))[name], asked
            )
            return KafkaTopic(self._connection, found)
        except UnknownTopicError as error:
            raise self._no_topic(name) from error

    def create(
        self,
        name: str,
        partitions: int = 1,
        config: Mapping[str, object] | None = None,
        *,
        exist_ok: bool = False,
        replication: int | None = None,
    ) -> KafkaTopic:
        """Create a topic. With `exist_ok` an existing one is returned unchanged."""
        check_new(name, partitions)
        asked = Asked(f"The topic {name!r} cannot be created", "Create", "topic", name)
        wanted = NewTopic(
            name,
            num_partitions=partitions,
            replication_factor=self._replication if replication is None else replication,
            config={setting: _text(value) for setting, value in (config or {}).items()},
        )
        try:
            self._connection.answer(lambda: self._connection.admin.create_topics([wanted])[name], asked)
        except TopicExistsError:
            if not exist_ok:
                raise
            return self[name]
        return self._appeared(name)

    def delete(self, name: str) -> None:
        """Delete a topic and all its records."""
        check_name(name)
        asked = Asked(f"The topic {name!r} cannot be deleted", "Delete", "topic", name)
        try:
            self._connection.answer(lambda: self._connection.admin.delete_topics([name])[name], asked)
        except UnknownTopicError as error:
            raise self._no_topic(name) from error
        deadline = time.monotonic() + self._connection.patience
        while name in self and time.monotonic() < deadline:
            time.sleep(_LOOK_SECONDS)

    def consumer(
        self,
        name: str,
        *,
        key: Serde | None = None,
        value: Serde | None = None,
        start: Start = "earliest",
        follow: bool = False,
    ) -> KafkaConsumer:
        """Return a consumer that starts at "earliest", "latest", a time, or offsets by partition.

        With offsets by partition, only these partitions are read.
        """
        return KafkaConsumer(self._connection, self[name], key, value, start=start, follow=follow)

    def _appeared(self, name: str) -> KafkaTopic:
        """Wait until the brokers know about a topic that the controller has created."""
        deadline = time.monotonic() + self._connection.patience
        while True:
            try:
                return self[name]
            except UnknownTopicError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_LOOK_SECONDS)

    def _no_topic(self, name: str) -> UnknownTopicError:
        return self._unknown(name, f"at {self.bootstrap_servers}", self.command)


def _text(value: object) -> str:
    if isinstance(value, timedelta):
        return str(value // timedelta(milliseconds=1))
    return str(value).lower() if isinstance(value, bool) else str(value)
