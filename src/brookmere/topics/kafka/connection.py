"""A connection to a Kafka cluster, with retries and explained errors."""

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
# A restarting broker is back within this time; an absent one is not worth a much longer wait.
_PATIENCE_SECONDS = 20.0
_LOOK_SECONDS = 0.5


class ClientLog:
    """Receives the client's log: it reports every connection attempt, and errors quote the last ones."""

    def log(self, level: int, message: str, *arguments: Any) -> None:
        """Log it at debug level."""
        _log.debug(f"client, level {level}: {message}", *arguments)


class Connection:
    """A Kafka cluster, and the user who connects to it."""

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
        # Pending answers are lost if the client is destroyed before they arrive.
        self.admin = AdminClient(
            {**translated(self.settings), "error_cb": self._said.append}, logger=ClientLog()
        )

    def reader(self) -> Consumer:
        """Return a consumer that reads committed records, joins no group, and reports ends of partitions."""
        options = {
            "fetch.wait.max.ms": "50",
            **self._consumer,
            # The client requires a group name although it neither joins nor commits.
            "group.id": "brookmere",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
            "auto.offset.reset": "error",
            "error_cb": self._said.append,
        }
        return Consumer(options, logger=ClientLog())

    def writer(self) -> Producer:
        """Return the connection's producer, which chooses partitions the way Kafka's own producer does."""
        if self._writer is None:
            options = {
                # The broker decides what is too large.
                "message.max.bytes": "104857600",
                **self._producer,
                "partitioner": "murmur2_random",
                "enable.idempotence": True,
                "error_cb": self._said.append,
            }
            self._writer = Producer(options, logger=ClientLog())
        return self._writer

    def forget_writer(self) -> None:
        """Discard the producer after a fatal error, so that the next append creates a new one."""
        self._writer = None

    def command(self, rest: str) -> str:
        """Return the shell command that runs `brookmere topics` on this cluster."""
        options = f"--bootstrap-server {shlex.quote(self.brokers)}"
        if len(self.settings) > 1:
            # Credentials, for example, do not belong on a command line.
            options += f" --client-config {shlex.quote(str(self._file)) if self._file else 'FILE'}"
        return f"brookmere topics {rest} {options}"

    def metadata(self) -> ClusterMetadata:
        """Return the brokers and topics of the cluster."""
        asked = Asked("The topics of Kafka cannot be listed", "Describe", "cluster", "kafka-cluster")
        return self.patiently(lambda: self.admin.list_topics(timeout=_LOOK_SECONDS), asked)

    def answer(self, ask: Callable[[], Future[T]], asked: Asked) -> T:
        """Send a request and wait for the answer; retry while the cluster's metadata is catching up."""
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
        """Refresh the list of brokers: without it the client keeps waiting for a lost one."""
        with suppress(KafkaException):
            self.admin.list_topics(timeout=_LOOK_SECONDS)

    def patiently(self, attempt: Callable[[], T], asked: Asked) -> T:
        """Retry until it works or patience runs out; a refused login ends it at once."""
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
        """Raise the client's reported error if waiting cannot fix it, or if the time is up."""
        self.admin.poll(0)
        said = [error for error in self._said if is_refused(error)]
        if said:
            raise refused(said[-1], asked, self)
        waited = time.monotonic() - began
        if waited >= self.patience:
            raise unreachable(self._said[-1] if self._said else None, asked, self, waited)

    def failure(self, error: KafkaError, asked: Asked) -> TopicError:
        """Return the error for what the client has reported."""
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
