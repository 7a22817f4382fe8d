"""Topics, kept as logs in a directory or by Kafka: create, read and write them."""

from __future__ import annotations

from brookmere.topics.any_topics import AnyConsumer, AnyProducer, AnyTopic, AnyTopics
from brookmere.topics.consumer import Consumer
from brookmere.topics.embedded import Topics
from brookmere.topics.home import default_topics_directory, home
from brookmere.topics.log.append import Appended, Writer
from brookmere.topics.log.topic import PartitionInfo, Topic, TopicInfo
from brookmere.topics.maintenance.maintenance import Maintained
from brookmere.topics.maintenance.repair import Damage, Repair
from brookmere.topics.open import open_topics
from brookmere.topics.producer import Producer
from brookmere.topics.settings import TopicConfig

__all__ = [
    "AnyConsumer",
    "AnyProducer",
    "AnyTopic",
    "AnyTopics",
    "Appended",
    "Consumer",
    "Damage",
    "Maintained",
    "PartitionInfo",
    "Producer",
    "Repair",
    "Topic",
    "TopicConfig",
    "TopicInfo",
    "Topics",
    "Writer",
    "default_topics_directory",
    "home",
    "open_topics",
]
