"""Turns everything that can go wrong into one tree of errors, ordered by who has to act.

    BrookmereError
     ├ TopologyError             the program is wrong; lists every fault of it at once
     │   └ ExpressionError       a lambda cannot be compiled
     ├ ConfigError               a setting is wrong
     ├ StateError                a state directory cannot be used
     │   └ InstanceError         the application or the replica runs already, there or elsewhere
     ├ CommandError              the command line names what is not there or cannot be used
     ├ RecordError               a record failed
     │   ├ DeserializationError  its bytes do not decode
     │   ├ TimestampError        its time cannot be one
     │   ├ ProcessingError       an operator failed on it
     │   └ ProductionError       it could not be written
     ├ TopicError                a topic does not do what was asked
     │   ├ UnknownTopicError     there is no such topic, or no longer
     │   ├ TopicExistsError      there is one of this name already
     │   ├ AccessError           Kafka does not let this user in, or does not let it do this
     │   ├ DamagedTopicError     its files are not as they were written
     │   └ DataLossError         it no longer has the records that were asked for
     ├ StoreError                a question to a store cannot be answered
     │   ├ UnknownStoreError     there is no such store, or it cannot be asked
     │   ├ StoreNotReadyError    its replica has not caught up yet, or is closed
     │   ├ StoreTypeError        stores of its kind do not answer such a question
     │   └ PositionError         its replica has not come as far as was asked for
     ├ RegistryError             a schema registry does not do what was asked
     │   ├ UnknownSchemaError    it has no such subject, version, id or schema
     │   └ IncompatibleSchemaError  a schema may not follow the ones before it
     ├ ServerError               the HTTP server cannot listen, or does not start
     ├ EngineError               Spark, Java or the kernel failed
     │   ├ KernelBuildError      the kernel does not compile
     │   ├ JavaNotFoundError     there is no Java runtime that fits
     │   ├ JarNotFoundError      a Java library is not there and cannot be fetched
     │   ├ BrokerError           the development broker does not do what was asked
     │   ├ UnreachableError      Kafka does not answer
     │   ├ TransactionError      Kafka has ended a transaction, and the batch cannot be written
     │   └ WorkerError           a process that runs Python code of the program has ended
     ├ UnsupportedError          known, and not done
     └ InternalError             a bug of Brookmere

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
    """One thing that is wrong with a program: what was found, where, and what to do."""

    what: str
    where: str | None
    remedy: str

    def __str__(self) -> str:
        place = f" ({self.where})" if self.where else ""
        return f"{_without_stop(self.what)}{place}. {_with_stop(self.remedy)}"


class TopologyError(BrookmereError):
    """The program is wrong. `faults` holds everything that was found, not only the first."""

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
    """A setting is unknown, or its value is. `faults` lists what is wrong where several things can be."""

    def __init__(self, problem: str | Sequence[Fault]) -> None:
        self.faults: list[Fault] = [] if isinstance(problem, str) else list(problem)
        super().__init__(problem if isinstance(problem, str) else _listed(self.faults))


class CommandError(BrookmereError):
    """The command line names a program or a file that is not there, or that cannot be used."""


class StateError(BrookmereError):
    """The state directory of an application cannot be used."""


class InstanceError(StateError):
    """The application or the replica runs already on the same directory, or another instance took over."""


class RecordError(BrookmereError):
    """A record failed.

    `reason` is the class name of the cause, `message` its words and `trace` its stack trace; the place is
    as exact as the failing part knows it. `key` and `value` are the record's bytes, where there are any.
    """

    _what: ClassVar[str] = "A record failed"
    _remedy: ClassVar[str] = "Correct the record, or let the exception handler continue past it."

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
        """Return where the Python code of the user failed, if the trace is one of it: its first line."""
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
        return f"Found {', '.join(parts)}." if parts else ""


class DeserializationError(RecordError):
    """The bytes of a record do not decode with the serde of its source."""

    _what = "A record could not be read"
    _remedy = (
        "Give the source a serde that fits these bytes, "
        "or let deserialization.exception.handler continue past such records."
    )


class TimestampError(RecordError):
    """The time of a record is null, negative or no number."""

    _what = "A record has no valid timestamp"
    _remedy = (
        "Correct the timestamp= of the source, or let on_invalid_timestamp= be 'skip' or 'partition-time'; "
        "default.timestamp.extractor says so for all sources."
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
        "Give the sink a serde that fits its values and an existing topic, "
        "or let production.exception.handler continue past such records."
    )


class TopicError(BrookmereError):
    """A topic does not do what was asked: refused settings or records, no room, no permission."""


class UnknownTopicError(TopicError):
    """There is no such topic, or no longer."""


class TopicExistsError(TopicError):
    """There is a topic of this name already."""


class AccessError(TopicError):
    """Kafka does not let a user in, or does not let it do something.

    `principal` is who was refused; `operation` and `resource` say what for, such as Read and topic orders,
    and are None where the user could not log in.
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
    """A file of a topic is missing, cut off or changed.

    `partition`, `start` and `end` say which records the file holds, from offset `start` to before `end`;
    they are None where the file holds no records.
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
    """A topic no longer has, or never had, the records that were asked for."""


class StoreError(BrookmereError):
    """A question to a store cannot be answered."""


class UnknownStoreError(StoreError):
    """There is no store of this name, or it has no changelog, so that nobody can ask it."""


class StoreNotReadyError(StoreError):
    """The store's replica has not caught up with the changelog yet, or is closed. Ask again later."""


# Also an AttributeError, so that hasattr() tells which questions a store answers.
class StoreTypeError(StoreError, AttributeError):
    """Stores of this kind do not answer such a question."""


class PositionError(StoreError):
    """The store's replica has not come as far as was asked for, or cannot tell.

    `topic` is the one that it does not know; None where it has only not come that far.
    """

    def __init__(self, message: str, *, topic: str | None = None) -> None:
        super().__init__(message)
        self.topic = topic


class RegistryError(BrookmereError):
    """A schema registry does not do what was asked: not reached, not allowed, an invalid schema.

    `status` is the HTTP status and `code` the registry's own number, where it answered.
    """

    def __init__(self, message: str, *, status: int | None = None, code: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class UnknownSchemaError(RegistryError):
    """The registry has no such subject, version, id or schema."""


class IncompatibleSchemaError(RegistryError):
    """The registry's compatibility rules forbid that a schema follows the ones before it."""


class ServerError(BrookmereError):
    """The HTTP server cannot listen where it should, or does not start."""


class EngineError(BrookmereError):
    """Spark, Java or the kernel failed."""


class KernelBuildError(EngineError):
    """The kernel does not compile; the message carries the compiler's words."""


class JavaNotFoundError(EngineError):
    """There is no Java runtime that fits."""


class JarNotFoundError(EngineError):
    """A Java library is not there, is not the right one, or cannot be fetched."""


class BrokerError(EngineError):
    """The development broker does not start, or does not do what was asked."""


class UnreachableError(EngineError):
    """Kafka did not answer for as long as it was waited for. Nothing is lost: start again when it is back."""


class TransactionError(EngineError):
    """Kafka has ended a transaction, most often as it took too long; nothing is lost or written twice."""


class WorkerError(EngineError):
    """A process that runs Python code of the program has ended; the batch is done again with another one."""


class UnsupportedError(BrookmereError):
    """The request is understood, and Brookmere does not do it."""


class InternalError(BrookmereError):
    """Brookmere broke one of its own rules."""

    def __str__(self) -> str:
        return f"{_with_stop(super().__str__())} This is a bug of Brookmere: please report it."


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
