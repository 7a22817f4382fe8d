"""Latency: the time from sending a record to its result, at a steady rate.

A thread of this process sends 1,000 records a second, at equal intervals, each with its send time as its
key. Another reads the committed results: the key of a result shows when its record was sent. So each record
has its own key, and one result.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from confluent_kafka import Consumer, Message, Producer, TopicPartition

from benchmarks.failures import QueryFailedError
from benchmarks.kafka.cluster import Cluster
from benchmarks.kafka.contestants import Contestant, Place
from benchmarks.kafka.processes import Child
from benchmarks.kafka.workloads import Workload

PER_SECOND = 1000
KINDS = ("projection", "keys")
"""One stateless and one stateful program."""
_ORDER = (
    b'{"order":1,"customer":"customer-1","item":"item-1","quantity":9,"price":1.5,'
    b'"country":"NL","express":false}'
)
_WARM_SECONDS = 3.0
_PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds from sending a record to receiving its result."""

    contestant: Contestant
    workload: Workload
    times: list[float]

    def quantile(self, part: float) -> float:
        """Return a quantile of the latency."""
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def measure(
    cluster: Cluster, contestant: Contestant, workload: Workload, place: Place, child: Child, seconds: float
) -> Latency:
    """Send records for this many seconds, after a warm-up, and wait for all results.

    Raises:
        QueryFailedError: results are missing.
    """
    number = int((_WARM_SECONDS + seconds) * PER_SECOND)
    consumer = _consumer(cluster, place.out)
    try:
        sender = threading.Thread(target=_send, args=(cluster, workload, place.source, number), daemon=True)
        sender.start()
        found: list[tuple[int, int]] = []
        deadline = time.monotonic() + _WARM_SECONDS + seconds + _PATIENCE
        while len(found) < number:
            messages = consumer.consume(1000, 0.005)
            now = time.time_ns()
            found += [(sent, now) for message in messages if (sent := _sent(message))]
            child.check()
            if time.monotonic() > deadline:
                raise QueryFailedError(f"{child.name}: {len(found):,} of {number:,} results arrived in time")
        sender.join()
    finally:
        consumer.close()
    first = min(sent for sent, _ in found) + int(_WARM_SECONDS * 1e9)
    return Latency(contestant, workload, [(now - sent) / 1e6 for sent, now in found if sent >= first])


def _consumer(cluster: Cluster, topic: str) -> Consumer:
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.servers,
            "group.id": f"latency-{topic}",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 10,
        }
    )
    # The start offset is fixed here: the end could have moved by the time the consumer requests it.
    consumer.assign([TopicPartition(topic, number, end) for number, end in enumerate(cluster.ends(topic))])
    return consumer


def _sent(message: Message) -> int | None:
    """Return when the record of a result was sent; None for a late result of earlier records."""
    if message.error() is not None:
        raise QueryFailedError(f"{message.topic()} cannot be read: {message.error()}")
    key = message.key()
    return int(key) if key.isdigit() else None


def _send(cluster: Cluster, workload: Workload, topic: str, number: int) -> None:
    producer = Producer(
        {
            "bootstrap.servers": cluster.servers,
            "linger.ms": 0,
            "partitioner": "murmur2_random",
            "log_level": 2,
        }
    )
    value = _ORDER if workload.kind == "projection" else b"12345678"
    began = time.perf_counter()
    for count in range(number):
        due = began + count / PER_SECOND
        while (left := due - time.perf_counter()) > 0:
            time.sleep(left)
        producer.produce(topic, value, b"%d" % time.time_ns())
        producer.poll(0)
    producer.flush(_PATIENCE)
