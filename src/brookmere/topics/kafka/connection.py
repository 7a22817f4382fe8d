"""Turns the settings of a client into a connection to a Kafka cluster that is asked and waited for."""

from __future__ import annotations

import logging
import shlex
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as WaitedTooLong
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient, ClusterMetadata

from brookmere.errors import TopicError
from brookmere.topics.kafka.client_settings import translated
from brookmere.topics.kafka.failures import Asked, explained, is_refused, refused, unreachable
from brookmere.topics.kafka.login import principal

T = TypeVar("T")

_log = logging.getLogger(__name__)
# A broker that restarts is back within this time; one that is not there should not be waited for much longer.
_PATIENCE_SECONDS = 20.0
_LOOK_SECONDS = 0.5


class ClientLog:
    """Takes what the client says: it speaks of every attempt to connect, and errors tell of the last ones."""

    def log(self, level: int, message: str, *arguments: Any) -> None:
        """Put it down for those who look closely."""
        _log.debug(f"client, level {level}: {message}", *arguments)


class Connection:
    """A cluster of Kafka, and who we are to it."""

    def __init__(
        self,
        settings: Mapping[str, str],
        consumer: Mapping[str, str] | None = None,
        producer: Mapping[str, str] | None = None,
        file: Path | None = None,
    ) -> None:
        self._file = file
        self.settings = dict(settings)
        self._consumer = translated(settings if consumer is None else consumer)
        self._producer = translated(settings if producer is None else producer)
        self._writer: Producer | None = None
        self.brokers = self.settings.get("bootstrap.servers", "")
        self.principal = principal(self.settings)
        patience = self.settings.get("default.api.timeout.ms")
        self.patience = int(patience) / 1000 if patience else _PATIENCE_SECONDS
        self._said: deque[KafkaError] = deque(maxlen=50)
        # The answers to what it is asked are lost if it goes away before they come.
        self.admin = AdminClient(
            {**translated(self.settings), "error_cb": self._said.append}, logger=ClientLog()
        )

    def reader(self) -> Consumer:
        """Return a consumer that reads what is committed, joins no group, and tells where partitions end."""
        options = {
            "fetch.wait.max.ms": "50",
            **self._consumer,
            # The client wants a name although nothing is joined and nothing committed.
            "group.id": "brookmere",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
            "auto.offset.reset": "error",
            "error_cb": self._said.append,
        }
        return Consumer(options, logger=ClientLog())

    def writer(self) -> Producer:
        """Return the producer of this connection, which chooses partitions as Kafka's own does."""
        if self._writer is None:
            options = {
                # What is too large is for the broker to say.
                "message.max.bytes": "104857600",
                **self._producer,
                "partitioner": "murmur2_random",
                "enable.idempotence": True,
                "error_cb": self._said.append,
            }
            self._writer = Producer(options, logger=ClientLog())
        return self._writer

    def forget_writer(self) -> None:
        """Let the next writer be a new one, because this one has failed for good."""
        self._writer = None

    def command(self, rest: str) -> str:
        """Return a command on topics of this cluster, as it is typed."""
        options = f"--bootstrap-server {shlex.quote(self.brokers)}"
        if len(self.settings) > 1:
            # How to log in, for example; a command line is no place for it.
            options += f" --client-config {shlex.quote(str(self._file)) if self._file else 'FILE'}"
        return f"brookmere topics {rest} {options}"

    def metadata(self) -> ClusterMetadata:
        """Return the brokers and the topics that there are."""
        asked = Asked("The topics of Kafka cannot be listed", "Describe", "cluster", "kafka-cluster")
        return self.patiently(lambda: self.admin.list_topics(timeout=_LOOK_SECONDS), asked)

    def answer(self, ask: Callable[[], Future[T]], asked: Asked) -> T:
        """Ask, and wait for the answer; ask again where the cluster is about to know it."""
        began = time.monotonic()

        def attempt() -> T:
            future = ask()
            while True:
                try:
                    return future.result(timeout=_LOOK_SECONDS)
                except WaitedTooLong:
                    self.check(asked, began)
                    self._look_around()

        return self.patiently(attempt, asked)

    def _look_around(self) -> None:
        """Hear which brokers there are now: the client waits for one that is gone until it is told."""
        with suppress(KafkaException):
            self.admin.list_topics(timeout=_LOOK_SECONDS)

    def patiently(self, attempt: Callable[[], T], asked: Asked) -> T:
        """Try until it works, no longer than patience lasts; a refusal ends it at once."""
        began = time.monotonic()
        while True:
            try:
                return attempt()
            except KafkaException as error:
                found: KafkaError = error.args[0]
                if not (found.retriable() or found.code() in _AGAIN):
                    raise explained(found, asked, self) from error
                self.check(asked, began)
                time.sleep(0.05)

    def check(self, asked: Asked, began: float) -> None:
        """Raise what the client has said that no waiting mends, or that there was enough of it."""
        self.admin.poll(0)
        said = [error for error in self._said if is_refused(error)]
        if said:
            raise refused(said[-1], asked, self)
        waited = time.monotonic() - began
        if waited >= self.patience:
            raise unreachable(self._said[-1] if self._said else None, asked, self, waited)

    def failure(self, error: KafkaError, asked: Asked) -> TopicError:
        """Return the error for what a client has reported."""
        return explained(error, asked, self)


_AGAIN = frozenset(
    {
        KafkaError._TRANSPORT,
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._TIMED_OUT,
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.BROKER_NOT_AVAILABLE,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.NOT_COORDINATOR,
        KafkaError.REQUEST_TIMED_OUT,
        KafkaError.NETWORK_EXCEPTION,
    }
)
