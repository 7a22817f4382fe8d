"""Discovery of replicas: heartbeats in a topic say which replicas there are and what they hold."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from types import TracebackType
from typing import Any, Self

from brookmere.errors import BrookmereError
from brookmere.record import Record
from brookmere.serde import Text
from brookmere.state.replica.replica import Replica
from brookmere.topics import AnyConsumer, AnyProducer, AnyTopics
from brookmere.topics.times import now_ms

BEAT_SECONDS = 5.0
"""How often a replica sends a heartbeat."""
DEAD_SECONDS = 30.0
"""How long without a heartbeat until a replica counts as gone."""

_LOOK_SECONDS = 0.5
_CONFIG = {"cleanup.policy": "compact,delete", "retention.ms": 3_600_000}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PeerStore:
    """A store of a replica."""

    name: str
    partitions: tuple[int, ...]
    lag: int
    ready: bool


@dataclass(frozen=True, slots=True)
class Peer:
    """A replica that serves HTTP."""

    name: str
    address: str
    """Host and port, such as 127.0.0.1:7000."""
    since: int
    """When it started to serve, in milliseconds since 1970."""
    stores: tuple[PeerStore, ...] = ()

    def to_json(self) -> str:
        """Return it as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Peer:
        """Read what `to_json` wrote; raise ValueError for anything else."""
        try:
            found: dict[str, Any] = json.loads(text)
            stores = [
                PeerStore(str(one["name"]), tuple(one["partitions"]), int(one["lag"]), bool(one["ready"]))
                for one in found["stores"]
            ]
            return cls(str(found["name"]), str(found["address"]), int(found["since"]), tuple(stores))
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"this does not describe a replica: {error!r}") from error

    def store(self, name: str) -> PeerStore | None:
        """Return one of its stores, or None."""
        return next((store for store in self.stores if store.name == name), None)


def stores_of(replica: Replica) -> list[PeerStore]:
    """Return the stores of a replica."""
    return [
        PeerStore(status.name, tuple(status.position.get(status.topic, ())), status.lag, status.is_ready)
        for status in replica.status()
    ]


def replicas_topic(application: str) -> str:
    """Return the topic with the heartbeats of an application's replicas."""
    return f"{application}-replicas"


class Peers:
    """Announces this replica to the others of its application, and keeps track of them.

    `stores` returns the stores of this replica. A replica without heartbeats for half a minute is gone.
    """

    def __init__(
        self,
        application: str,
        topics: AnyTopics,
        name: str,
        stores: Callable[[], Sequence[PeerStore]],
        *,
        beat: float = BEAT_SECONDS,
        dead: float = DEAD_SECONDS,
    ) -> None:
        self._topic = replicas_topic(application)
        self._topics = topics
        self._own = Peer(name, "", 0)
        self._stores = stores
        self._beat = beat
        self._dead = dead
        self._lock = threading.Lock()
        self._known: dict[str, tuple[Peer, float]] = {}
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="brookmere-peers", daemon=True)

    @property
    def own(self) -> Peer:
        """This replica."""
        return replace(self._own, stores=tuple(self._stores()))

    def all(self) -> list[Peer]:
        """Return the live replicas: this one first, the others by address."""
        alive = time.monotonic() - self._dead
        with self._lock:
            others = [
                peer
                for address, (peer, seen) in sorted(self._known.items())
                if seen > alive and address != self._own.address
            ]
        return [self.own, *others]

    def start(self, address: str) -> Self:
        """Announce this replica under an address and listen to the others, in a background thread."""
        self._own = replace(self._own, address=address, since=now_ms())
        self._thread.start()
        return self

    def close(self) -> None:
        """Announce the end and stop."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _work(self) -> None:
        while not self._closing.is_set():
            try:
                self._topics.create(self._topic, 1, _CONFIG, exist_ok=True)
                first = int((time.time() - self._dead) * 1000)
                with (
                    self._topics.producer(self._topic, key=Text(), value=Text()) as producer,
                    self._topics.consumer(self._topic, start=max(first, 0)) as consumer,
                ):
                    self._exchange(producer, consumer)
            except (BrookmereError, OSError) as error:
                # Queries do not depend on other replicas, so this one carries on without them.
                _log.warning("Cannot announce this replica to the others of the application: %s", error)
                self._closing.wait(self._beat)

    def _exchange(self, producer: AnyProducer, consumer: AnyConsumer) -> None:
        next_beat = time.monotonic()
        while not self._closing.is_set():
            if time.monotonic() >= next_beat:
                producer.send(self._own.address, self.own.to_json())
                next_beat = time.monotonic() + self._beat
            for record in consumer.poll():
                self._learn(record)
            self._closing.wait(_LOOK_SECONDS)
        producer.send(self._own.address, None)

    def _learn(self, record: Record) -> None:
        address = (record.key or b"").decode("utf-8", "replace")
        if record.value is None:
            with self._lock:
                self._known.pop(address, None)
            return
        try:
            peer = Peer.from_json(record.value.decode("utf-8"))
        except ValueError as error:
            _log.warning("Ignoring a heartbeat in %s: %s", self._topic, error)
            return
        with self._lock:
            self._known[address] = (peer, time.monotonic() - self._age(address, record))

    def _age(self, address: str, record: Record) -> float:
        """Return the age of a heartbeat: one that follows another has just arrived."""
        if address in self._known:
            return 0.0
        # The first may be old. As clocks differ, wait long enough for a second one.
        return min(max(time.time() - record.timestamp / 1000, 0.0), self._dead - 2 * self._beat)
