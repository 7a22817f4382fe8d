"""Checks of the arguments that users pass to DSL methods; errors name the user's line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NoReturn, get_args

from brookmere.config import Handler
from brookmere.errors import Fault, TopologyError
from brookmere.names import nearest
from brookmere.serde import Serde
from brookmere.topology.function import Function, function, here
from brookmere.topology.operators import How, Initial, Literal, ShortAggregate, Top
from brookmere.topology.python_code import PythonFunction


def refuse(what: str, remedy: str) -> NoReturn:
    """Raise an error with one fault at the user's line."""
    raise TopologyError([Fault(what, str(here()), remedy)])


def lambda_of(role: str, call: Callable[..., Any] | PythonFunction) -> Function:
    """Check a function over Columns; `role` names it in errors, for example "predicate of filter"."""
    if isinstance(call, PythonFunction):
        # build() reports all faults of a program together, including this one.
        fault = Fault(f"The {role} cannot be Python code", str(here()), _instead_of_python(role))
        return replace(function(role, call.call), fault=fault)
    if not callable(call):
        refuse(f"The {role} must be a function, found {call!r}", "Pass a lambda over Columns")
    return function(role, call)


def _instead_of_python(role: str) -> str:
    if role.startswith("joiner"):
        return "Join with a lambda over Columns, and call the function in a map_values() after the join"
    if role.startswith(("step", "merge")):
        return "Write it with aggregate(), whose step can be Python"
    return "Pass a lambda over Columns, and compute what it needs in a map_values() before it"


def field_or_lambda(role: str, given: str | Callable[..., Any] | PythonFunction) -> Function:
    """Return a function that reads a field of the value, such as "a.b", or `given` itself."""
    if not isinstance(given, str):
        return lambda_of(role, given)
    if not given:
        refuse(f"The {role} is an empty field name", "Pass the name of a field of the value")

    def read(value: Any) -> Any:
        for part in given.split("."):
            value = value[part]
        return value

    return lambda_of(role, read)


def action_of(role: str, call: Callable[[Any, Any], object]) -> Callable[[Any, Any], object]:
    """Check a Python function of key and value that is called for its effect."""
    if not callable(call):
        refuse(f"The {role} must be a function, found {call!r}", "Pass a function of key and value")
    return call


def initial_of(value: object) -> Initial:
    """Return the initial value of an aggregate: given directly, or by a function without parameters."""
    return lambda_of("initial value of aggregate", value) if callable(value) else Literal(value)


def how_of(how: How, known: tuple[How, ...], other: str) -> How:
    """Check the kind of a join with `other`."""
    if how not in known:
        remedy = f"Use {' or '.join(map(repr, known))}"
        refuse(f"A join with a {other} cannot be {how!r}", remedy)
    return how


def serde_of(role: str, serde: Serde | None) -> Serde | None:
    """Check a serde."""
    if serde is not None and not isinstance(serde, Serde):
        refuse(f"The {role} serde must be a serde, found {serde!r}", "Pass for example brookmere.Text()")
    return serde


def handler_of(role: str, handler: Handler | None) -> Handler | None:
    """Check an error handler."""
    known = get_args(Handler)
    if handler is not None and handler not in known:
        close = nearest(str(handler), known)
        remedy = f"Did you mean {close!r}?" if close else f"Pass {' or '.join(map(repr, known))}"
        refuse(f"{role} must be a handler, found {handler!r}", remedy)
    return handler


def partitions_of(number: int | None) -> int | None:
    """Check a number of partitions."""
    if number is not None and (not isinstance(number, int) or isinstance(number, bool) or number < 1):
        refuse(f"A number of partitions must be at least 1, found {number!r}", "Pass a positive int or None")
    return number


def topics_of(topics: str | Iterable[str]) -> tuple[str, ...]:
    """Return the distinct names of one or several topics."""
    given = [topics] if isinstance(topics, str) or not isinstance(topics, Iterable) else topics
    names = tuple(dict.fromkeys(given))
    if not names or not all(isinstance(name, str) for name in names):
        refuse(f"A stream must name its topics, found {topics!r}", "Pass a name, several names or a pattern")
    return names


def pattern_of(pattern: re.Pattern[str]) -> str:
    """Return the text of a pattern with its flags inlined."""
    flags = pattern.flags & ~re.UNICODE
    letters = "".join(letter for letter, flag in _FLAGS.items() if flags & flag)
    return f"(?{letters}){pattern.pattern}" if letters else pattern.pattern


_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE, "a": re.ASCII}


def top_of(n: int, by: str | Callable[..., Any], lowest: bool) -> Top:
    """Check which values of a group top_n() keeps."""
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        refuse(f"top_n() needs n to be at least 1, found {n!r}", "Pass a positive int")
    return Top(n, field_or_lambda("by of top_n", by), lowest)


def columns_of(columns: Mapping[str, object], kinds: tuple[str, ...]) -> tuple[ShortAggregate, ...]:
    """Check the named aggregates of agg(); only these `kinds` are supported."""
    if not columns:
        refuse("agg() needs at least one column", 'Write for example agg(total=brookmere.sum("amount"))')
    faults, shorts = [], []
    for name, short in columns.items():
        if isinstance(short, ShortAggregate) and short.kind in kinds:
            shorts.append(replace(short, name=name))
        else:
            found = short.kind if isinstance(short, ShortAggregate) else short
            remedy = f"Use {', '.join(kinds)}, or write it with aggregate()"
            faults.append(Fault(f"Column {name!r} of agg() cannot be {found!r} here", str(here()), remedy))
    if faults:
        raise TopologyError(faults)
    return tuple(shorts)
