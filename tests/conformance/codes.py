"""Turns the words of a scenario into what the DSL takes: lambdas over Columns, or Python functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from pyspark.sql import Column

import brookmere as bm
from tests.conformance import python_words, words


class Counts(NamedTuple):
    """The functions of a count: its steps, and what merges the counts of two sessions."""

    add: Any
    subtract: Any
    merge: Any


class Code(Protocol):
    """What stands for the words of a scenario; `windowed` tells that keys have a window."""

    counts: Counts | None
    """How counts that are numbers are folded, as all other aggregates are; None: the DSL counts."""

    def function(self, spec: str, *, windowed: bool) -> Any: ...
    def test(self, spec: str, *, windowed: bool) -> Any: ...
    def pair(self, key_spec: str, value_spec: str, *, windowed: bool) -> Any: ...
    def split_value(self) -> Any: ...
    def split_into_pairs(self, *, windowed: bool) -> Any: ...
    def fold(self, spec: str) -> Any:
        """Return a function of (aggregate, value)."""

    def step(self, spec: str) -> Any:
        """Return a function of (key, value, aggregate)."""

    def adding(self, change: int) -> Any:
        """Return the step of a count that is told as text."""


class ColumnCode:
    """Lambdas over Columns."""

    counts = None

    def function(self, spec: str, *, windowed: bool) -> Any:
        return told_keys(words.function(spec), windowed=windowed)

    def test(self, spec: str, *, windowed: bool) -> Any:
        return told_keys(words.test(spec), windowed=windowed)

    def pair(self, key_spec: str, value_spec: str, *, windowed: bool) -> Any:
        return told_keys(words.pair(key_spec, value_spec), windowed=windowed)

    def split_value(self) -> Any:
        return words.split_value

    def split_into_pairs(self, *, windowed: bool) -> Any:
        return told_keys(words.split_into_pairs, windowed=windowed)

    def fold(self, spec: str) -> Any:
        return words.fold(spec)

    def step(self, spec: str) -> Any:
        fold = words.fold(spec)
        return lambda key, value, aggregate: fold(aggregate, value)

    def adding(self, change: int) -> Any:
        return lambda key, value, aggregate: _plus(aggregate, change)


class PythonCode:
    """Functions of Python values. They know a windowed key when they see one."""

    counts = Counts(
        add=bm.python(lambda key, value, aggregate: aggregate + 1, returns=int),
        subtract=bm.python(lambda key, value, aggregate: aggregate - 1, returns=int),
        merge=bm.python(lambda one, other: one + other, returns=int),
    )

    def function(self, spec: str, *, windowed: bool) -> Any:
        return bm.python(python_words.function(spec), returns=str)

    def test(self, spec: str, *, windowed: bool) -> Any:
        return bm.python(python_words.test(spec))

    def pair(self, key_spec: str, value_spec: str, *, windowed: bool) -> Any:
        return bm.python(python_words.pair(key_spec, value_spec), returns=(str, str))

    def split_value(self) -> Any:
        return bm.python(python_words.split_value, returns=str)

    def split_into_pairs(self, *, windowed: bool) -> Any:
        return bm.python(python_words.split_into_pairs, returns=(str, str))

    def fold(self, spec: str) -> Any:
        return bm.python(python_words.fold(spec), returns=str)

    def step(self, spec: str) -> Any:
        fold = python_words.fold(spec)
        return bm.python(lambda key, value, aggregate: fold(aggregate, value), returns=str)

    def adding(self, change: int) -> Any:
        return bm.python(
            lambda key, value, aggregate: str(python_words.number(aggregate) + change), returns=str
        )


def told_keys(call: words.KeyValueFunction, *, windowed: bool) -> Callable[[Column, Column], Any]:
    """Return `call` so that it sees a windowed key as its text."""
    return (lambda key, value: call(words.windowed_text(key), value)) if windowed else call


def _plus(column: Column, change: int) -> Column:
    return words.text(words.number(words.text(column)) + change)
