"""Runs a function over all records of a chunk before they are received one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

from brookmere.worker.functions.calls import UserFunction
from brookmere.worker.protocol.stage_code import KEEP, NodeCode, Running, Runtime

Answers = Literal["values", "keys", "pairs", "lists", "tests"]
"""What the function returns for each record."""

Compute = Callable[[list[Any], list[Any], list[int]], list[Any]]
"""Takes keys, values and timestamps as they came, and returns an answer or a Failed for each."""

Give = Callable[[Any, Any, Any, int, Any], None]


class Failed:
    """The result of a record whose call failed."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


class Ahead(Running):
    """A node that computes its results before its records are received."""

    prepares = True
    takes_wire = True

    def __init__(self, compute: Compute, give: Give) -> None:
        self._compute = compute
        self._give = give
        self._answers: Iterator[Any] = iter(())

    def prepare(
        self,
        keys: list[Any],
        values: list[Any],
        times: list[int],
        headers: list[Any] | None,  # noqa: ARG002
    ) -> None:
        self._answers = iter(self._compute(keys, values, times))

    def receive(self, key: Any, value: Any, ts: int, headers: Any) -> None:  # noqa: ARG002
        answer = next(self._answers)
        if type(answer) is Failed:
            raise answer.error
        self._give(KEEP, KEEP, answer, ts, headers)


def ahead_of(
    function: UserFunction,
    give: Give,
    answers: Answers,
    node: NodeCode,
    runtime: Runtime,
) -> Running:
    """Return the node that computes batches, or makes many calls at a time."""
    compute: Compute
    if function.batch is not None:
        from brookmere.worker.functions.batches import batch_compute

        compute = batch_compute(function, answers, node, runtime)
    else:
        from brookmere.worker.functions.asynchronous import async_compute

        compute = async_compute(function, answers, node, runtime)
    return Ahead(compute, give)
