"""Turns the settings of an application into its topics: those in a directory, or those of Kafka."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brookmere.config import Config, client_settings
from brookmere.topics.embedded import Topics

if TYPE_CHECKING:
    from brookmere.topics.kafka import KafkaTopics


def open_topics(config: Config) -> Topics | KafkaTopics:
    """Return the topics of Kafka if bootstrap.servers is set, else those in topics.dir.

    Raises:
        ConfigError: something that the settings of Kafka's clients refer to is missing.
    """
    if not config.on_kafka:
        return Topics(config.topics_dir)
    # Kafka's client is loaded only by those who use it.
    from brookmere.topics.kafka import KafkaTopics

    return KafkaTopics(
        client_settings(config, "admin"),
        consumer=client_settings(config, "consumer"),
        producer=client_settings(config, "producer"),
        replication=config.replication_factor,
        file=config.file,
    )
