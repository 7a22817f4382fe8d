"""Replicas of an application know each other through a topic of Kafka, too."""

from __future__ import annotations

import time

from brookmere.broker import Broker
from brookmere.state.replica.peers import Peers, PeerStore
from brookmere.topics.kafka import KafkaTopics

STORES = (PeerStore("totals", (0, 1), 3, True),)
DEADLINE = 60.0


def see(peers: Peers, *addresses: str) -> None:
    deadline = time.monotonic() + DEADLINE
    while tuple(peer.address for peer in peers.all()) != addresses:
        assert time.monotonic() < deadline, peers.all()
        time.sleep(0.05)


def test_replicas_learn_of_each_other_and_of_a_goodbye(kafka: Broker) -> None:
    topics = KafkaTopics({"bootstrap.servers": kafka.bootstrap_servers})

    with Peers("peers-on-kafka", topics, "local", lambda: STORES).start("a:1") as one:
        with Peers("peers-on-kafka", topics, "standby", lambda: STORES).start("b:2") as other:
            see(one, "a:1", "b:2")
            see(other, "b:2", "a:1")
        see(one, "a:1")
