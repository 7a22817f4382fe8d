"""Checks of user functions: lambdas over Columns, or Python code with the type of its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from brookmere.dsl.arguments.checks import initial_of, lambda_of
from brookmere.dsl.functions.signatures import element, pair, record_parameters, returned
from brookmere.dsl.functions.types import is_type, words_for
from brookmere.dsl.graph.graph import Graph
from brookmere.serde import Serde
from brookmere.topology.function import fingerprint_of, here, location_of
from brookmere.topology.operators import Code, Initial
from brookmere.topology.operators import Literal as Plain
from brookmere.topology.python_code import PythonFunction

Given = Callable[..., Any] | PythonFunction
"""What a user may pass as a function: a lambda over Columns, or Python code."""

Result = Literal["one", "pair", "many", "pairs", "test", "same"]
"""What a function returns: a value, a key and a value, several of them, a bool, or its input's type."""


@dataclass(frozen=True, slots=True)
class Part:
    """What an operator requires of a function."""

    result: Result
    parameters: tuple[str, ...] = ("(value)", "(key, value)", "(key, value, timestamp)")
    """The signatures a function may have."""
    least: int = 1
    batches: bool = False
    waits: bool = False


ONE = Part("one", batches=True, waits=True)
TEST = Part("test", batches=True, waits=True)
PAIR = Part("pair", batches=True, waits=True)
MANY = Part("many", waits=True)
PAIRS = Part("pairs", waits=True)
BRANCH = Part("test")
TABLE_ONE, TABLE_TEST, TABLE_PAIR = Part("one"), Part("test"), Part("pair")
STEP = Part("one", ("(aggregate)", "(value, aggregate)", "(key, value, aggregate)"))
UNDO = replace(STEP, result="same")
REDUCER = Part("same", ("(aggregate, value)", "(key, aggregate, value)"), least=2)
MERGER = Part("same", ("(aggregate, other)", "(key, aggregate, other)"), least=2)


def code_of(graph: Graph, role: str, given: Given, part: Part) -> Code:
    """Check the function that plays `role`; faults of Python code are recorded for build()."""
    if not isinstance(given, PythonFunction):
        return lambda_of(role, given)
    _check_calls(graph, role, given, part)
    _check_parameters(graph, role, given, part)
    return replace(given, role=role, returns=_result(graph, role, given, part))


def serde_in(code: Code, position: int | None = None) -> Serde | None:
    """Return the serde that a function names as the type of its result, or of one element of the pair."""
    spec = code.returns if isinstance(code, PythonFunction) else None
    if position is not None:
        spec = spec[position] if isinstance(spec, tuple) else None
    return spec if isinstance(spec, Serde) else None


def initial_for(graph: Graph, value: object, *functions: Code | None) -> Initial:
    """Return the initial value of an aggregate; with a Python step it may be a Python function.

    The functions of one aggregate must be all Python, or all over Columns.
    """
    given = [code for code in functions if code is not None]
    python = [code for code in given if isinstance(code, PythonFunction)]
    if python and len(python) < len(given):
        columns = next(code for code in given if not isinstance(code, PythonFunction))
        graph.fault(
            f"The {python[0].role} is Python, but the {columns.role} is over Columns",
            "Wrap both in brookmere.python(...), or neither",
        )
    role = "initial value of aggregate"
    if isinstance(value, PythonFunction):
        if not python:
            graph.fault(
                f"The {role} is Python, but the {given[0].role} is over Columns",
                "Wrap both in brookmere.python(...), or neither",
            )
        return replace(value, role=role, is_factory=False)
    if python and callable(value):
        return PythonFunction(role, location_of(value), fingerprint_of(value), value)
    return initial_of(value) if not python else Plain(value)


def _check_calls(graph: Graph, role: str, given: PythonFunction, part: Part) -> None:
    if given.batch is not None and not part.batches:
        where = "map, map_values, select_key, filter and filter_not of a stream"
        graph.fault(f'The {role} cannot have batch="{given.batch}"', f"Remove it; only {where} support it")
    if given.asynchronous is not None and not part.waits:
        remedy = "Call it in a map_values() of the stream before, and keep its result in the value"
        graph.fault(f"The {role} cannot be asynchronous", remedy)


def _check_parameters(graph: Graph, role: str, given: PythonFunction, part: Part) -> None:
    count = record_parameters(given.call, is_factory=given.is_factory)
    forms = ("(batch)",) if given.batch else part.parameters
    least = 1 if given.batch else part.least
    if count is not None and not least <= count < least + len(forms):
        what = f"The {role} takes {count} parameter{'' if count == 1 else 's'}{_written(given)}"
        graph.fault(what, f"Write a function of {' or '.join(forms)}")


def _result(graph: Graph, role: str, given: PythonFunction, part: Part) -> object | None:
    if part.result == "test":
        return None
    spec, is_annotation = given.returns, False
    if spec is None and given.batch is None:
        spec, is_annotation = returned(given.call, is_factory=given.is_factory), True
    if part.result == "same":
        return None if is_annotation else _checked(graph, role, spec)
    if is_annotation and part.result in ("many", "pairs"):
        spec = element(spec)
    if spec is None:
        graph.fault(f"The {role} does not declare the type it returns{_written(given)}", _remedy(part))
        return None
    if part.result not in ("pair", "pairs"):
        return _checked(graph, role, spec)
    both = pair(spec)
    if both is None:
        graph.fault(f"The {role} must return a key and a value, found {words_for(spec)}", _remedy(part))
        return None
    return _checked(graph, role, both[0]), _checked(graph, role, both[1])


def _written(given: PythonFunction) -> str:
    """Return where the function is defined, unless it is the line that the fault names anyway."""
    return "" if given.location == here() else f"; it is defined at {given.location}"


def _checked(graph: Graph, role: str, spec: object | None) -> object | None:
    if spec is None or is_type(spec):
        return spec
    remedy = (
        'Pass a DDL string such as "a int, b string", a Python type, a dataclass, a Spark type or a serde'
    )
    graph.fault(f"The result of the {role} is not a type: found {words_for(spec)}", remedy)
    return None


def _remedy(part: Part) -> str:
    match part.result:
        case "pair" | "pairs":
            return 'Pass returns=(key type, value type), for example returns=("string", "bigint")'
        case "many":
            return 'Pass the type of one element, for example returns="string"'
    return 'Pass returns=, for example returns="string", or annotate the function'
