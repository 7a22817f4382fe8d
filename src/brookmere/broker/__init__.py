"""A real Kafka on this machine, for development and tests."""

from brookmere.broker.cluster import Broker
from brookmere.broker.node import Node
from brookmere.broker.status import BrokerStatus, NodeStatus

__all__ = ["Broker", "BrokerStatus", "Node", "NodeStatus"]
