"""Finds the error behind an exception of the JVM or of Python, above all the record that failed."""

from __future__ import annotations

import re
import traceback
from typing import Any

from py4j.protocol import Py4JJavaError

from brookmere.errors import (
    AccessError,
    BrookmereError,
    DataLossError,
    EngineError,
    InstanceError,
    StateError,
    TopicError,
    TransactionError,
    UnreachableError,
    WorkerError,
)
from brookmere.run.query.outputs import plain_words, record_error

_CHANGED_STORE = re.compile(
    r"SCHEMA_NOT_COMPATIBLE\].*Existing (?P<part>key|value)_schema=(?P<old>\S+)"
    r" and new \w+_schema=(?P<new>\S+)\.",
    re.DOTALL,
)


_LOST_STATE = re.compile(r"STREAMING_STATEFUL_OPERATOR_(MISSING_STATE_DIRECTORY|NOT_MATCH)|CANNOT_LOAD_STATE")


_STOPPED: dict[str, type[BrookmereError]] = {
    "again": TransactionError,
    "fenced": InstanceError,
    "lost": DataLossError,
    "stale": StateError,
    "topic": TopicError,
    "unreachable": UnreachableError,
}
"""What stops an application on Kafka, by the kernel's word for it."""


def from_java(exception: Any) -> BrookmereError:
    """Return the failure of a record in the chain of causes, or else the innermost cause."""
    cause, innermost = exception, exception
    while cause is not None:
        innermost = cause
        if cause.getClass().getName() == "brookmere.kernel.core.RecordFailed":
            return record_error(
                cause.stage(),
                node=cause.node(),
                task=cause.task(),
                topic=cause.topic(),
                partition=cause.partition(),
                offset=cause.offset(),
                reason=cause.reason(),
                message=cause.detail(),
                trace=cause.trace(),
                key=_bytes(cause.key()),
                value=_bytes(cause.value()),
            )
        if cause.getClass().getName() == "brookmere.kernel.kafka.KafkaStopped":
            return _stopped(cause)
        if cause.getClass().getName() == "brookmere.kernel.python.workers.WorkerLost":
            return WorkerError(_sentence(str(cause.getMessage())))
        if cause.getClass().getName() == "brookmere.kernel.python.workers.WorkerFailed":
            return _outside_a_record(str(cause.getMessage()))
        cause = cause.getCause()
    return _innermost(innermost)


def _outside_a_record(trace: str) -> EngineError:
    """Return the error of Python code that failed outside of any record."""
    lines = trace.strip().splitlines()
    return EngineError(
        "Python code of the program failed outside of a record: when it was loaded, in init(), in open() or "
        f"at the end of a batch. Found: {_sentence(lines[-1] if lines else 'nothing')} "
        f"Fix it: the next start repeats the batch.\n{trace.strip()}"
    )


def _stopped(cause: Any) -> BrookmereError:
    message, denied = _sentence(str(cause.getMessage())), cause.denied()
    if denied is None:
        return _STOPPED[str(cause.kind())](message)
    operation, resource = denied.operation(), denied.resource()
    return AccessError(
        message,
        principal=str(denied.principal()),
        operation=None if operation is None else str(operation),
        resource=None if resource is None else str(resource),
    )


def from_python(error: Exception) -> BrookmereError:
    """Return the failure behind an exception of Python, which may wrap one of the JVM."""
    java = error.java_exception if isinstance(error, Py4JJavaError) else getattr(error, "_origin", None)
    if java is not None:
        return from_java(java)
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    return EngineError(
        f"A Python function of the program failed with {type(error).__name__}: {error}{place}. "
        "Fix it: the next start repeats the batch."
    )


def _innermost(exception: Any) -> BrookmereError:
    kind, said = str(exception.getClass().getName()), str(exception.getMessage())
    if kind == "brookmere.kernel.topics.TopicLog$TopicException":
        return TopicError(_sentence(said))
    thrown_in = exception.getStackTrace()
    if len(thrown_in) and str(thrown_in[0].getClassName()).startswith("brookmere."):
        return EngineError(_sentence(said))
    if _LOST_STATE.search(said):
        return StateError(
            "The state of the application is missing, or belongs to another program. "
            f"Found: {_sentence(plain_words(said))} "
            "Restore the state directory, or start from scratch under another application.id."
        )
    return EngineError(_engine_words(f"{kind}: {said}"))


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def _engine_words(text: str) -> str:
    changed = _CHANGED_STORE.search(text)
    if changed is None:
        return f"The query failed: {_sentence(text)}"
    return (
        f"The checkpoint holds a store with {changed['part']}s of another type. "
        f"Found: {changed['old']}, but the program has {changed['new']}. "
        "Give the result a new name with store=, or start with an empty checkpoint."
    )


def _bytes(value: Any) -> bytes | None:
    return None if value is None else bytes(value)
