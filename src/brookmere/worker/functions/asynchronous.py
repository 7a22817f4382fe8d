"""Calls an asynchronous function for the records of a chunk, many at a time, and keeps their order.

All asynchronous functions of a stage share one event loop. It runs while a chunk is computed, in the thread
of the worker, so that clients made in `open()` belong to the loop that uses them.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncIterable, Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from typing import Any

from brookmere.worker.functions.ahead import Answers, Compute, Failed
from brookmere.worker.functions.calls import AsyncCalls, Call, UserFunction, as_record_call, made_by
from brookmere.worker.protocol.stage_code import NodeCode, Runtime
from brookmere.worker.task.failures import FAILURES
from brookmere.worker.types.python_values import reader


class Loop:
    """An event loop that runs a coroutine at a time, also where the caller is inside another loop."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run until `work` is done, and return what it returns."""
        if not _is_inside_loop():
            return self._runner.run(work)
        # A notebook runs its cells inside a loop, and a thread can have one only.
        return _in_thread(lambda: self._runner.run(work))

    def close(self) -> None:
        """Cancel what is still running, and close."""
        if _is_inside_loop():
            _in_thread(self._runner.close)
        else:
            self._runner.close()


def async_compute(function: UserFunction, answers: Answers, node: NodeCode, runtime: Runtime) -> Compute:
    """Return the function that handles all records of a chunk."""
    loop: Loop = runtime.once(Loop)
    call = as_record_call(_function(function, node, runtime, loop), function)
    calls = function.calls or AsyncCalls()
    read_key, read_value = reader(node.key) or _same, reader(node.value) or _same

    def seen(key: Any, value: Any, ts: int) -> Any:
        # A record that cannot be read fails alone, so each is read just before its call.
        return call(read_key(key), read_value(value), ts)

    def compute(keys: list[Any], values: list[Any], times: list[int]) -> list[Any]:
        records = [*zip(keys, values, times, strict=True)]
        found: list[Any] = loop.run(_all(function, seen, calls, records, answers))
        return found

    return compute


def _function(function: UserFunction, node: NodeCode, runtime: Runtime, loop: Loop) -> Callable[..., Any]:
    if not function.is_factory:
        return function.call
    made: _Made = runtime.once(_Making(function.call, node.name, loop))
    return made.call


@dataclass(frozen=True, slots=True)
class _Making:
    """Makes the function of a node for all tasks of a process."""

    make: Callable[..., Any] = field(hash=False)
    node: str
    loop: Loop

    def __call__(self) -> _Made:
        return _Made(self.make, self.loop)


class _Made:
    """A function that is made, opened and closed inside the loop."""

    def __init__(self, make: Callable[..., Any], loop: Loop) -> None:
        self.call = make
        self._loop = loop

    def open(self) -> None:
        self._loop.run(self._open())

    def close(self) -> None:
        self._loop.run(_done(self.call, "close"))

    async def _open(self) -> None:
        self.call = made_by(self.call)
        await _done(self.call, "open")


async def _done(made: Any, step: str) -> None:
    """Call open or close if it exists; it may be asynchronous."""
    found = getattr(made, step, _nothing)()
    if inspect.isawaitable(found):
        await found


def _nothing() -> None:
    """Do nothing, in place of a missing open or close."""


async def _all(
    function: UserFunction,
    call: Call,
    calls: AsyncCalls,
    records: list[tuple[Any, Any, int]],
    answers: Answers,
) -> list[Any]:
    found: list[Any] = [None] * len(records)

    whole = asyncio.current_task()

    async def take(places: Iterator[int]) -> None:
        for place in places:
            try:
                found[place] = await _answer(function, call, calls, records[place], answers)
            except asyncio.CancelledError:
                taker = asyncio.current_task()
                if taker is None or whole is None or whole.cancelling():
                    raise
                # The function has cancelled the asyncio task that calls it, which the next records need.
                while taker.uncancel():
                    continue
                found[place] = Failed(_cancelled(function))

    # The takers share one iterator, so each record has one taker and none waits while there are records.
    places = iter(range(len(records)))
    takers = min(calls.concurrency, len(records))
    await asyncio.gather(*[take(places) for _ in range(takers)])
    return found


async def _answer(
    function: UserFunction, call: Call, calls: AsyncCalls, record: tuple[Any, Any, int], answers: Answers
) -> Any:
    """Return the result for a record, or Failed after the last attempt."""
    attempt = 0
    while True:
        try:
            return await _attempt(function, call, calls, record, answers)
        except FAILURES as error:
            if attempt >= calls.retries:
                return Failed(error)
        await asyncio.sleep(calls.backoff_ms / 1000 * 2**attempt)
        attempt += 1


async def _attempt(
    function: UserFunction, call: Call, calls: AsyncCalls, record: tuple[Any, Any, int], answers: Answers
) -> Any:
    limit = None if calls.timeout_ms is None else calls.timeout_ms / 1000
    clock = asyncio.timeout(limit)
    try:
        async with clock:
            return await _awaited(function, call(*record), answers)
    except TimeoutError as error:
        if not clock.expired():
            raise
        raise TimeoutError(
            f"The {function.where} took longer than {limit} s; "
            "give it more time by timeout=, or more attempts by retries="
        ) from error
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise _cancelled(function) from error


def _cancelled(function: UserFunction) -> RuntimeError:
    return RuntimeError(f"The {function.where} was cancelled by what it calls; catch CancelledError there")


async def _awaited(function: UserFunction, answer: Any, answers: Answers) -> Any:
    if inspect.isawaitable(answer):
        return await answer
    if answers == "lists" and isinstance(answer, AsyncIterable):
        return [item async for item in answer]
    raise function.wrong("something to await", answer, "write it with async def, or use bm.python")


def _same(value: Any) -> Any:
    return value


def _is_inside_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _in_thread(work: Callable[[], Any]) -> Any:
    found: list[Any] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:  # noqa: BLE001 - it is raised again where the caller is
            failed.append(error)

    thread = threading.Thread(target=run, name="brookmere event loop")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return found[0]
