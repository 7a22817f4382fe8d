"""Turns an exception of the JVM into the error of the record that caused it."""

from __future__ import annotations

import re
from typing import Any

from py4j.protocol import Py4JJavaError

from brookmere.errors import EngineError, RecordError
from brookmere.run.outputs import record_error

_CHANGED_STORE = re.compile(
    r"SCHEMA_NOT_COMPATIBLE\].*Existing (?P<part>key|value)_schema=(?P<old>\S+)"
    r" and new \w+_schema=(?P<new>\S+)\.",
    re.DOTALL,
)


def from_java(exception: Any) -> RecordError | EngineError:
    """Return the record's failure somewhere in the chain of causes, or else the engine's."""
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
        cause = cause.getCause()
    return EngineError(_engine_words(str(innermost.toString())))


def from_python(error: Exception) -> RecordError | EngineError:
    """Return the failure behind an exception of Python, which may stand for one of the JVM."""
    java = error.java_exception if isinstance(error, Py4JJavaError) else getattr(error, "_origin", None)
    if java is not None:
        return from_java(java)
    return EngineError(f"The sink failed with {type(error).__name__}: {error}")


def _engine_words(text: str) -> str:
    changed = _CHANGED_STORE.search(text)
    if changed is None:
        return f"The query failed: {text}"
    return (
        f"The checkpoint holds a store with {changed['part']}s of another type. "
        f"Found {changed['old']}, the program has {changed['new']}. "
        "Give the result a store= of a new name, or start with an empty checkpoint."
    )


def _bytes(value: Any) -> bytes | None:
    return None if value is None else bytes(value)
