"""All errors of Brookmere in one tree, ordered by who has to act.

    BrookmereError
     ├ TopologyError             the program is invalid; lists all its faults
     │   └ ExpressionError       a lambda cannot be compiled
     ├ ConfigError               a setting is invalid
     ├ StateError                a state directory cannot be used
     │   └ InstanceError         the application or the replica already runs
     ├ CommandError              the command line names something missing or unusable
     ├ RecordError               a record failed
     │   ├ DeserializationError  its bytes cannot be decoded
     │   ├ TimestampError        its timestamp is invalid
     │   ├ ProcessingError       an operator failed on it
     │   └ ProductionError       it could not be written
     ├ TopicError                a topic operation failed
     │   ├ UnknownTopicError     the topic does not exist, or no longer exists
     │   ├ TopicExistsError      a topic of this name already exists
     │   ├ AccessError           Kafka rejects the login or the operation of this user
     │   ├ DamagedTopicError     its files are damaged
     │   └ DataLossError         it no longer has the requested records
     ├ StoreError                a query of a store failed
     │   ├ UnknownStoreError     the store does not exist, or cannot be queried
     │   ├ StoreNotReadyError    its replica has not caught up yet, or is closed
     │   ├ StoreTypeError        stores of its type do not support such a query
     │   └ PositionError         its replica has not reached the requested position
     ├ RegistryError             a request to a schema registry failed
     │   ├ UnknownSchemaError    it has no such subject, version, id or schema
     │   └ IncompatibleSchemaError  a schema is incompatible with earlier ones
     ├ ServerError               the HTTP server cannot listen, or does not start
     ├ EngineError               Spark, Java or the kernel failed
     │   ├ KernelBuildError      the kernel does not compile
     │   ├ JavaNotFoundError     there is no suitable Java runtime
     │   ├ JarNotFoundError      a Java library is missing and cannot be downloaded
     │   ├ BrokerError           the development broker failed
     │   ├ UnreachableError      Kafka does not answer
     │   ├ TransactionError      Kafka has aborted a transaction
     │   └ WorkerError           a process that runs Python code of the program has ended
     ├ UnsupportedError          not supported by Brookmere
     └ InternalError             a bug in Brookmere

A message has three parts: what is wrong and where, what was found, what to do about it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

__all__ = [
    "AccessError",
    "BrokerError",
    "BrookmereError",
    "CommandError",
    "ConfigError",
    "DamagedTopicError",
    "DataLossError",
    "DeserializationError",
    "EngineError",
    "ExpressionError",
    "Fault",
    "IncompatibleSchemaError",
    "InstanceError",
    "InternalError",
    "JarNotFoundError",
    "JavaNotFoundError",
    "KernelBuildError",
    "PositionError",
    "ProcessingError",
    "ProductionError",
    "RecordError",
    "RegistryError",
    "ServerError",
    "StateError",
    "StoreError",
    "StoreNotReadyError",
    "StoreTypeError",
    "TimestampError",
    "TopicError",
    "TopicExistsError",
    "TopologyError",
    "TransactionError",
    "UnknownSchemaError",
    "UnknownStoreError",
    "UnknownTopicError",
    "UnreachableError",
    "UnsupportedError",
    "WorkerError",
]

_SHOWN_BYTES = 64


class BrookmereError(Exception):
    """The root of every error that Brookmere raises on purpose."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of a program: what is wrong, where, and what to do."""

    what: str
    where: str | None
    remedy: str

    def __str__(self) -> str:
        place = f" ({self.where})" if self.where else ""
        return f"{_without_stop(self.what)}{place}. {_with_stop(self.remedy)}"


class TopologyError(BrookmereError):
    """The program is invalid. `faults` holds all its faults."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        if not faults:
            raise ValueError("a TopologyError needs at least one fault")
        self.faults: list[Fault] = list(faults)
        super().__init__(self.faults)

    def __str__(self) -> str:
        return _listed(self.faults)


class ExpressionError(TopologyError):
    """A lambda over Columns cannot be compiled."""


class ConfigError(BrookmereError):
    """A setting is unknown or has an invalid value. `faults` lists all of them."""

    def __init__(self, problem: str | Sequence[Fault]) -> None:
        self.faults: list[Fault] = [] if isinstance(problem, str) else list(problem)
        super().__init__(problem if isinstance(problem, str) else _listed(self.faults))


class CommandError(BrookmereError):
    """The command line names a program or a file that is missing or cannot be used."""


class StateError(BrookmereError):
    """The state directory of an application cannot be used."""


class InstanceError(StateError):
    """The application or the replica already runs on the same directory, or another instance took over."""


class RecordError(BrookmereError):
    """A record failed.

    `reason` is the class name of the cause, `message` its message and `trace` its stack trace. The place is
    as exact as the failing part knows it. `key` and `value` are the bytes of the record, if there are any.
    """

    _what: ClassVar[str] = "A record failed"
    _remedy: ClassVar[str] = "Fix the record, or let the exception handler continue past it."

    def __init__(
        self,
        message: str,
        *,
        reason: str | None = None,
        node: str | None = None,
        task: int | None = None,
        topic: str | None = None,
        partition: int | None = None,
        offset: int | None = None,
        key: bytes | None = None,
        value: bytes | None = None,
        trace: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason
        self.node = node
        self.task = task
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.key = key
        self.value = value
        self.trace = trace

    def __str__(self) -> str:
        cause = ": ".join(part for part in (self.reason, self.message) if part) + self._line()
        parts = (f"{self._what}{self._place()}: {_with_stop(cause)}", self._found(), self._remedy)
        return " ".join(part for part in parts if part)

    def _line(self) -> str:
        """Return where the user's Python code failed, if the trace is one of Python."""
        last = (self.trace or "").rpartition("Traceback (most recent call last):")[2]
        found = re.search(r'File "(.+)", line (\d+)', last)
        return f" ({found[1]}:{found[2]})" if found else ""

    def _place(self) -> str:
        known = (
            ("node", self.node),
            ("task", self.task),
            ("topic", self.topic),
            ("partition", self.partition),
            ("offset", self.offset),
        )
        parts = [f"{label} {content}" for label, content in known if content is not None]
        return f" at {', '.join(parts)}" if parts else ""

    def _found(self) -> str:
        known = (("key", self.key), ("value", self.value))
        parts = [f"{label} {_excerpt(content)}" for label, content in known if content is not None]
        return f"Found: {', '.join(parts)}." if parts else ""


class DeserializationError(RecordError):
    """The bytes of a record cannot be decoded with the serde of its source."""

    _what = "A record could not be read"
    _remedy = (
        "Give the source a serde that can read these bytes, "
        "or let deserialization.exception.handler continue past such records."
    )


class TimestampError(RecordError):
    """The timestamp of a record is null, negative or not a number."""

    _what = "A record has no valid timestamp"
    _remedy = (
        "Fix the timestamp= of the source, or set its on_invalid_timestamp= to 'skip' or 'partition-time'; "
        "default.timestamp.extractor sets it for all sources."
    )


class ProcessingError(RecordError):
    """An operator failed on a record."""

    _what = "A record could not be processed"
    _remedy = (
        "Make the function of this node accept such values, "
        "or let processing.exception.handler continue past such records."
    )


class ProductionError(RecordError):
    """A record could not be written to its topic."""

    _what = "A record could not be written"
    _remedy = (
        "Give the sink a serde that can write its values and an existing topic, "
        "or let production.exception.handler continue past such records."
    )


class TopicError(BrookmereError):
    """A topic operation failed: rejected settings or records, no space, no permission."""


class UnknownTopicError(TopicError):
    """The topic does not exist, or no longer exists."""


class TopicExistsError(TopicError):
    """A topic of this name already exists."""


class AccessError(TopicError):
    """Kafka rejects the login or an operation of a user.

    `principal` is the user; `operation` and `resource` are what was rejected, such as Read and topic orders,
    and None if the user could not log in.
    """

    def __init__(
        self,
        message: str,
        *,
        principal: str | None = None,
        operation: str | None = None,
        resource: str | None = None,
    ) -> None:
        super().__init__(message)
        self.principal = principal
        self.operation = operation
        self.resource = resource


class DamagedTopicError(TopicError):
    """A file of a topic is missing, truncated or changed.

    `partition`, `start` and `end` say which records the file holds, from offset `start` to before `end`;
    they are None if the file holds no records.
    """

    def __init__(
        self,
        message: str,
        *,
        topic: str | None = None,
        file: str | None = None,
        partition: int | None = None,
        start: int | None = None,
        end: int | None = None,
    ) -> None:
        super().__init__(message)
        self.topic = topic
        self.file = file
        self.partition = partition
        self.start = start
        self.end = end


class DataLossError(TopicError):
    """A topic no longer has, or never had, the requested records."""


class StoreError(BrookmereError):
    """A query of a store failed."""


class UnknownStoreError(StoreError):
    """There is no store of this name, or it has no changelog and so cannot be queried."""


class StoreNotReadyError(StoreError):
    """The replica of the store has not caught up with the changelog yet, or is closed. Try again later."""


# Also an AttributeError, so that hasattr() says which queries a store supports.
class StoreTypeError(StoreError, AttributeError):
    """Stores of this type do not support such a query."""


class PositionError(StoreError):
    """The replica of the store has not reached the requested position, or does not know it.

    `topic` is the topic that it does not know; None if it only has not got that far.
    """

    def __init__(self, message: str, *, topic: str | None = None) -> None:
        super().__init__(message)
        self.topic = topic


class RegistryError(BrookmereError):
    """A request to a schema registry failed: unreachable, not allowed, an invalid schema.

    `status` is the HTTP status and `code` the error code of the registry, if it answered.
    """

    def __init__(self, message: str, *, status: int | None = None, code: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class UnknownSchemaError(RegistryError):
    """The registry has no such subject, version, id or schema."""


class IncompatibleSchemaError(RegistryError):
    """A schema violates the compatibility rules of its subject in the registry."""


class ServerError(BrookmereError):
    """The HTTP server cannot listen on its address, or does not start."""


class EngineError(BrookmereError):
    """Spark, Java or the kernel failed."""


class KernelBuildError(EngineError):
    """The kernel does not compile; the message contains the output of the compiler."""


class JavaNotFoundError(EngineError):
    """There is no suitable Java runtime."""


class JarNotFoundError(EngineError):
    """A Java library is missing, is not the right one, or cannot be downloaded."""


class BrokerError(EngineError):
    """The development broker does not start, or failed."""


class UnreachableError(EngineError):
    """Kafka did not answer in time. Nothing is lost: start again when it is back."""


class TransactionError(EngineError):
    """Kafka has aborted a transaction, most often a slow one; nothing is lost or written twice."""


class WorkerError(EngineError):
    """A worker process with Python code of the program has died; another one repeats the batch."""


class UnsupportedError(BrookmereError):
    """Brookmere does not support the request."""


class InternalError(BrookmereError):
    """Brookmere broke one of its own rules."""

    def __str__(self) -> str:
        return f"{_with_stop(super().__str__())} This is a bug in Brookmere: please report it."


def _listed(faults: Sequence[Fault]) -> str:
    if len(faults) == 1:
        return str(faults[0])
    lines = [f"  {number}. {fault}" for number, fault in enumerate(faults, start=1)]
    return "\n".join([f"{len(faults)} faults:", *lines])


def _with_stop(text: str) -> str:
    text = text.rstrip()
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _without_stop(text: str) -> str:
    return text.rstrip().removesuffix(".")


def _excerpt(data: bytes) -> str:
    if len(data) <= _SHOWN_BYTES:
        return repr(data)
    return f"{data[:_SHOWN_BYTES]!r}... ({len(data)} bytes)"
