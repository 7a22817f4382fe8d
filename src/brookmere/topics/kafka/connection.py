"""Turns the settings of a client into a connection to a Kafka cluster that is asked and waited for."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as WaitedTooLong
from typing import Any, TypeVar

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, ClusterMetadata

from brookmere.errors import TopicError
from brookmere.topics.kafka.failures import Asked, explained, is_refused, refused, unreachable
from brookmere.topics.kafka.login import principal
from brookmere.topics.kafka.translation import translated

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

    def __init__(self, settings: Mapping[str, str]) -> None:
        self.settings = dict(settings)
        self.brokers = self.settings.get("bootstrap.servers", "")
        self.principal = principal(self.settings)
        patience = self.settings.get("default.api.timeout.ms")
        self.patience = int(patience) / 1000 if patience else _PATIENCE_SECONDS
        self._said: deque[KafkaError] = deque(maxlen=50)
        self.client = translated(self.settings)
        # The answers to what it is asked are lost if it goes away before they come.
        self.admin = AdminClient({**self.client, "error_cb": self._said.append}, logger=ClientLog())

    def options(self) -> dict[str, Any]:
        """Return what other clients of this cluster are made with."""
        return {**self.client, "error_cb": self._said.append}

    def metadata(self) -> ClusterMetadata:
        """Return the brokers and the topics that there are."""
        asked = Asked("The topics of Kafka cannot be listed", "Describe", "cluster", "kafka-cluster")
        return self.patiently(lambda: self.admin.list_topics(timeout=_LOOK_SECONDS), asked)

    def answer(self, future: Future[T], asked: Asked) -> T:
        """Wait for the answer to a question."""
        began = time.monotonic()
        while True:
            try:
                return future.result(timeout=_LOOK_SECONDS)
            except WaitedTooLong:
                self.check(asked, began)
            except KafkaException as error:
                raise explained(error.args[0], asked, self) from error

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
