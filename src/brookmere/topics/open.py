"""The topics of an application, as its settings choose them: in a directory, or in Kafka."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brookmere.config import Config, client_settings
from brookmere.topics.embedded import Topics

if TYPE_CHECKING:
    from brookmere.topics.kafka import KafkaTopics


def open_topics(config: Config) -> Topics | KafkaTopics:
    """Return Kafka's topics if bootstrap.servers is set, otherwise those in topics.dir.

    Raises:
        ConfigError: something that the Kafka client settings refer to is missing.
    """
    if not config.on_kafka:
        return Topics(config.topics_dir)
    # Load the Kafka client only if it is used.
    from brookmere.topics.kafka import KafkaTopics

    return KafkaTopics(
        client_settings(config, "admin"),
        consumer=client_settings(config, "consumer"),
        producer=client_settings(config, "producer"),
        replication=config.replication_factor,
        file=config.file,
    )
