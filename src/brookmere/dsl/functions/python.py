"""python() and python_async(): Python functions that run in worker processes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from importlib.util import find_spec
from typing import Any, Literal, get_args

from brookmere.dsl.arguments.checks import refuse
from brookmere.dsl.functions.signatures import (
    has_asynchronous_steps,
    is_asynchronous,
    is_called,
    takes_anything,
)
from brookmere.topology.durations import Duration, milliseconds
from brookmere.topology.function import fingerprint_of, location_of
from brookmere.topology.python_code import PythonFunction
from brookmere.worker.functions.calls import AsyncCalls, required_parameters

Batch = Literal["arrow", "pandas"]


def python(
    fn: Callable[..., Any], *, returns: object | None = None, batch: Batch | None = None
) -> PythonFunction:
    """Use a Python function in place of a lambda over Columns.

    It receives Python values: (value), (key, value) or (key, value, timestamp). `returns` is the type of its
    result: a DDL string, a Python type, a dataclass, a Spark type or a serde; `map` and `flat_map` need the
    pair of the key's and the value's. By default it is the return annotation of the function.

    With `batch`, it receives many records at once, as "arrow" or "pandas". A class, or a function without
    parameters, is called once per process and returns the function; its `open()` and `close()` are called.

    >>> import brookmere as bm
    >>> app = bm.StreamsBuilder("shout", key=bm.Text(), value=bm.Text())
    >>> app.stream("in").map_values(bm.python(str.upper, returns=str)).to("out")
    """
    if batch is not None and batch not in get_args(Batch):
        refuse(f"batch cannot be {batch!r}", 'Pass "arrow" or "pandas", or remove it')
    if batch == "pandas" and find_spec("pandas") is None:
        refuse('batch="pandas" needs pandas, which is not installed', "Run: pip install pandas")
    return _function(fn, returns, batch, None)


def python_async(
    fn: Callable[..., Any],
    *,
    returns: object | None = None,
    concurrency: int = 64,
    timeout: Duration = timedelta(seconds=30),
    retries: int = 0,
    backoff: Duration = timedelta(milliseconds=100),
) -> PythonFunction:
    """Use an `async def` function in place of a lambda over Columns, as `python` does.

    Up to `concurrency` calls run concurrently; the results keep the order of the records. A call that
    fails or takes longer than `timeout` is repeated up to `retries` times, after `backoff`, which doubles.
    """
    for word, number, least in (("concurrency", concurrency, 1), ("retries", retries, 0)):
        if not isinstance(number, int) or isinstance(number, bool) or number < least:
            refuse(f"{word} of python_async must be at least {least}, found {number!r}", "Pass an int")
    calls = AsyncCalls(
        concurrency,
        milliseconds("timeout of python_async", timeout, least=1),
        retries,
        milliseconds("backoff of python_async", backoff),
    )
    return _function(fn, returns, None, calls)


def _function(
    fn: Callable[..., Any], returns: object | None, batch: Batch | None, calls: AsyncCalls | None
) -> PythonFunction:
    name = "python" if calls is None else "python_async"
    if isinstance(fn, PythonFunction) or not callable(fn):
        refuse(f"{name}() needs a function or a class, found {fn!r}", "Pass a function of Python values")
    if calls is None and is_asynchronous(fn):
        refuse(
            "python() does not accept an asynchronous function",
            "Use brookmere.python_async(...) for async def",
        )
    is_factory = is_called(fn) if isinstance(fn, type) else required_parameters(fn) == 0
    if is_factory and not isinstance(fn, type) and takes_anything(fn):
        refuse(
            f"{name}() cannot know whether a function is a factory if all its parameters have defaults",
            "Remove a default, or pass lambda: make(...) without parameters for a factory",
        )
    if is_factory and isinstance(fn, type):
        _check_class(fn, name)
    if not is_factory and not isinstance(fn, type) and callable(getattr(fn, "open", None)):
        refuse(
            f"{name}() cannot open {type(fn).__name__}: it was created here, not in the process that uses it",
            f"Pass the class, or lambda: {type(fn).__name__}(...), which is called there before open()",
        )
    return PythonFunction(
        role=f"function of {name}",
        location=location_of(fn),
        fingerprint=(*fingerprint_of(fn), repr(returns)),
        call=fn,
        returns=returns,
        batch=batch,
        asynchronous=calls,
        is_factory=is_factory,
    )


def _check_class(kind: type, name: str) -> None:
    """Check that the worker process can create and open an instance of a class."""
    needed = required_parameters(kind)
    if needed:
        refuse(
            f"{name}() creates a {kind.__name__} without arguments, but it needs {needed}",
            f"Pass lambda: {kind.__name__}(...) with the arguments in it",
        )
    if name == "python" and has_asynchronous_steps(kind):
        refuse(
            f"python() does not support the asynchronous open() or close() of {kind.__name__}",
            "Use brookmere.python_async(...), or write them without async",
        )
