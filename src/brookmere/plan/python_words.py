"""Turns the Python code of an operator into the words in which a plan tells it."""

from __future__ import annotations

from brookmere.topology.python_code import Process, PythonFunction, parts

_BATCHES = {"arrow": "in Arrow batches", "pandas": "in pandas batches"}


def python_words(operator: object) -> list[str]:
    """Return the names of an operator's functions in Python, and how they are called."""
    if isinstance(operator, Process):
        reads = [f"reads {', '.join(operator.reads)}"] if operator.reads else []
        return [_name(operator.supplier), *reads]
    functions = [part for part in parts(operator) if isinstance(part, PythonFunction)]
    names = [_name(function.call) for function in functions]
    ways = [way for function in functions for way in _ways(function)]
    return list(dict.fromkeys([*names, *ways]))


def _name(call: object) -> str:
    name = getattr(call, "__name__", type(call).__name__)
    return "a lambda" if name == "<lambda>" else f"{name}"


def _ways(function: PythonFunction) -> list[str]:
    ways = [] if function.batch is None else [_BATCHES[function.batch]]
    if function.asynchronous is not None:
        ways.append(f"{function.asynchronous.concurrency} calls at once")
    return ways
