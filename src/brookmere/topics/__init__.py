"""Keeps topics as logs in a directory, reads and writes them, and those of Kafka."""

from __future__ import annotations

from brookmere.topics.appending import Appended, Writer
from brookmere.topics.consumer import Consumer
from brookmere.topics.embedded import Topics
from brookmere.topics.home import default_topics_directory, home
from brookmere.topics.kinds import AnyConsumer, AnyProducer, AnyTopic, AnyTopics
from brookmere.topics.maintenance import Maintained
from brookmere.topics.opening import open_topics
from brookmere.topics.producer import Producer
from brookmere.topics.repair import Damage, Repair
from brookmere.topics.settings import TopicConfig
from brookmere.topics.topic import PartitionInfo, Topic, TopicInfo

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
