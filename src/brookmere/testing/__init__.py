"""Turns a topology into something a test can feed and read: Kafka Streams' test driver in Python."""

from brookmere.testing.driver import TopologyTestDriver
from brookmere.testing.stores import StoreView
from brookmere.testing.topics import InputTopic, OutputTopic

__all__ = ["InputTopic", "OutputTopic", "StoreView", "TopologyTestDriver"]
