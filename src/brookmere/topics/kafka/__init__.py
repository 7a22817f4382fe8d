"""Topics in a Kafka cluster. No other package imports a Kafka client."""

from __future__ import annotations

from brookmere.topics.kafka.groups import Groups
from brookmere.topics.kafka.topic import KafkaPartitionInfo, KafkaTopic, KafkaTopicConfig, KafkaTopicInfo
from brookmere.topics.kafka.topics import KafkaTopics

__all__ = ["Groups", "KafkaPartitionInfo", "KafkaTopic", "KafkaTopicConfig", "KafkaTopicInfo", "KafkaTopics"]
