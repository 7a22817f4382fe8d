"""Keeps topics as logs in a directory, and reads and writes them."""

from __future__ import annotations

from brookmere.topics.appending import Appended, Writer
from brookmere.topics.consumer import Consumer
from brookmere.topics.embedded import Topics
from brookmere.topics.home import default_topics_directory, home
from brookmere.topics.maintenance import Maintained
from brookmere.topics.producer import Producer
from brookmere.topics.repair import Damage, Repair
from brookmere.topics.settings import TopicConfig
from brookmere.topics.topic import PartitionInfo, Topic, TopicInfo

__all__ = [
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
]
