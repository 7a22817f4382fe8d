"""Explains failures of Spark and the kernel to compile an expression, at the user's line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from logging import Logger

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.logger import PySparkLogger

from brookmere.errors import ExpressionError, Fault
from brookmere.names import nearest
from brookmere.topology.function import Function

_WORDS = {
    "python": (
        "calls the Python function {0}, which cannot run inside the kernel",
        "Write it with pyspark.sql.functions",
    ),
    "aggregate": (
        "uses the aggregate function {0}, but sees one record at a time",
        "Aggregate with group_by_key().agg(...) or aggregate(...); for arrays use F.aggregate or F.array_max",
    ),
    "window": (
        "uses the window function {0}, but sees one record at a time",
        "Group the stream and keep what you need in an aggregate",
    ),
    "generator": (
        "uses the generator {0}, which makes several rows from one",
        "Return an array from flat_map_values() or flat_map()",
    ),
    "subquery": ("contains a subquery", "Join with a table instead"),
    "clock": (
        "reads the current time with {0}, which would change when a batch is repeated",
        "Use the record's time: a function of three parameters receives (key, value, timestamp)",
    ),
    "nondeterministic": (
        "uses {0}, whose result would change when a batch is repeated",
        "Derive the value from the record, for example with F.hash or F.sha2",
    ),
    "operator": (
        "needs Spark's operator {0}, so it is not a row-wise expression",
        "Use row-wise functions only",
    ),
    "array": (
        "returns {0}, but must return an array of values",
        "Return an array, for example F.split(value, ' ')",
    ),
    "pairs": (
        "returns {0}, but must return an array of structs with key and value",
        "Return for example F.transform(words, lambda w: F.struct(w.alias('key'), F.lit(1).alias('value')))",
    ),
    "boolean": ("returns {0}, but a condition must be boolean", "Compare with a value, or cast to boolean"),
    "time": ("returns {0}, but must return a time", "Return milliseconds since the epoch or a timestamp"),
    "aggregate-type": (
        "changes the type of the aggregate: it starts as {0}, but the step returns {1}",
        "Return the type of the initial value from the step, with the same fields in the same order",
    ),
    "aggregate-open": (
        "does not determine the type of the aggregate: {0}",
        "Give the initial value a type, for example F.lit(None).cast('double')",
    ),
    "collation": (
        "stores keys of the type {0}, but a store looks up keys by their bytes",
        "Make equal keys equal strings, for example with F.lower(...)",
    ),
    "key-types": ("combines keys of the types {0} and {1}", "Give both sides the same key type"),
    "value-types": ("combines values of the types {0} and {1}", "Give both sides the same value type"),
    "python-type": (
        "passes values of the type {0} to Python code, which cannot represent them",
        "Cast them first, for example to string or to bigint",
    ),
    "store-types": ("writes values of the types {0} and {1} to one store", "Use one type, or two stores"),
}


# Error conditions of Spark that mean the same as a refusal of the kernel.
_SAME_AS = {
    "UNSUPPORTED_GENERATOR": "generator",
    "UDTF_ALIAS_NUMBER_MISMATCH": "generator",
    "WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE": "window",
}
_CORRECT = "Fix the expression"
_QUERY_LOGS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")


def about(function: object, node: str, where: str | None) -> AbstractContextManager[None]:
    """Explain failures inside as those of a user's function, at its line."""
    if isinstance(function, Function):
        return explained(f"{function.role} ({node})", str(function.location))
    return explained(f"node {node}", where)


@contextmanager
def explained(role: str, where: str | None) -> Iterator[None]:
    """Raise an ExpressionError about `role` for failures inside."""
    try:
        with _without_query_log():
            yield
    except (PySparkException, Py4JJavaError) as error:
        raise ExpressionError([_fault(role, where, error)]) from error


def _without_query_log() -> AbstractContextManager[None]:
    """Keep PySpark from logging a failed analysis with its stack trace: the error needs one line."""
    # Get these loggers as PySpark does: those of logging.getLogger() reject what PySpark logs.
    return silenced([PySparkLogger.getLogger(name) for name in _QUERY_LOGS])


@contextmanager
def silenced(loggers: Sequence[Logger]) -> Iterator[None]:
    """Turn these loggers off inside the block; afterwards each is as it was."""
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


def leaves_type_open(error: BaseException | None) -> bool:
    """Whether an aggregate was refused only because its type is not known yet."""
    return isinstance(error, Exception) and "aggregate-open|" in _message(error)


def _fault(role: str, where: str | None, error: Exception) -> Fault:
    text = _message(error)
    refused = re.search(r"Refused: ([\w-]+)\|([^\n]*)", text) or re.match(r"([\w-]+)\|([^\n]*)", text)
    if refused and refused.group(1) in _WORDS:
        what, remedy = _WORDS[refused.group(1)]
        found = refused.group(2).split("|")
        return Fault(f"The {role} {what.format(*found)}", where, remedy)
    if isinstance(error, AnalysisException):
        return _analysis(role, where, error)
    return Fault(f"The {role} cannot be compiled: {_first_line(text)}", where, _CORRECT)


def _analysis(role: str, where: str | None, error: AnalysisException) -> Fault:
    condition = error.getCondition() or ""
    parameters = error.getMessageParameters() or {}
    if condition.startswith("FIELD_NOT_FOUND"):
        name, known = _plain(parameters["fieldName"]), [_plain(f) for f in parameters["fields"].split(",")]
    elif condition.startswith("UNRESOLVED_COLUMN"):
        name = _plain(parameters["objectName"])
        known = [_plain(f) for f in parameters.get("proposal", "").split(",") if f]
    else:
        correct = "Fix the schema or the SQL text" if isinstance(error, ParseException) else _CORRECT
        _, remedy = _WORDS.get(_SAME_AS.get(condition.split(".")[0], ""), ("", correct))
        return Fault(f"The {role} cannot be compiled: {_first_line(str(error))}", where, remedy)
    close = nearest(name, known)
    remedy = f"Did you mean {close!r}?" if close else f"Known fields: {', '.join(known)}"
    return Fault(f"The {role} uses the field {name!r}, which does not exist", where, remedy)


def _first_line(text: str) -> str:
    return text.split("SQLSTATE")[0].strip().splitlines()[0].rstrip(" ;")


def _plain(name: str) -> str:
    return name.strip().strip("`")


def _message(error: Exception) -> str:
    if isinstance(error, Py4JJavaError):
        return str(error.java_exception.toString())
    return str(error)
