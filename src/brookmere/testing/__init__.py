"""Kafka Streams' test driver in Python: pipe records through a topology, and read its output."""

from brookmere.testing.driver import TopologyTestDriver
from brookmere.testing.stores import StoreView
from brookmere.testing.topics import InputTopic, OutputTopic

__all__ = ["InputTopic", "OutputTopic", "StoreView", "TopologyTestDriver"]
