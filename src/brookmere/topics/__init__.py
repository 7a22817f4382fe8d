"""Keeps topics as logs in a directory, and reads and writes them."""

from __future__ import annotations

from brookmere.topics.appending import Appended, Writer
from brookmere.topics.embedded import Topics
from brookmere.topics.home import default_topics_directory, home
from brookmere.topics.settings import TopicConfig
from brookmere.topics.topic import PartitionInfo, Topic, TopicInfo

__all__ = [
    "Appended",
    "PartitionInfo",
    "Topic",
    "TopicConfig",
    "TopicInfo",
    "Topics",
    "Writer",
    "default_topics_directory",
    "home",
]
