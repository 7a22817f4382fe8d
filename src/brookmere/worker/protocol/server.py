"""Serves the requests of the JVM."""

from __future__ import annotations

import pickle
import traceback
from typing import TYPE_CHECKING, Any, cast

from brookmere.worker.aggregates.fold_stage import Calls, FoldStage
from brookmere.worker.protocol.process import Gone, Process
from brookmere.worker.task.chunk import Chunk
from brookmere.worker.task.failures import FAILURES, described
from brookmere.worker.task.task import Task

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from brookmere.worker.aggregates.fold_code import FoldCode
    from brookmere.worker.protocol.channel import Channel
    from brookmere.worker.protocol.stage_code import StageCode


class Server:
    """The stages of a worker. With `codes` they need not be sent.

    `heard` is called with every exception of user code before it becomes part of an answer.
    """

    def __init__(
        self,
        channel: Channel,
        codes: Mapping[int, StageCode | FoldCode] | None = None,
        heard: Callable[[BaseException], None] | None = None,
    ) -> None:
        self._channel = channel
        self._codes: dict[int, StageCode | FoldCode] = dict(codes or {})
        self._process = Process(channel, heard)
        self._tasks: dict[tuple[int, int], Task] = {}
        self._fold_stages: dict[int, FoldStage] = {}
        self._failed: str | None = None

    def run(self) -> None:
        """Serve until there is no message left. It can be called again."""
        while True:
            message = self._channel.receive()
            if message is None or message[0] == "Q":
                return
            try:
                if self._failed is None:
                    self._serve(*message)
            except Gone:
                return
            except FAILURES as error:
                self._process.heard(error)
                trace = described(error)[2]
                # Without a frame of user code it is a bug in the worker.
                self._failed = trace if "\n  File " in trace else traceback.format_exc()
            # The start of a batch has no answer, so its failure is reported with the next one.
            if self._failed is not None and message[0] not in "BD":
                self._channel.send("X", self._failed)
                self._failed = None

    def close(self) -> None:
        """Close all processors, and objects that were made once."""
        for task in self._tasks.values():
            task.close()
        self._tasks.clear()
        self._process.close()

    def _serve(self, kind: str, payload: Any) -> None:
        match kind:
            case "C":
                stage, number, *columns = payload
                task = self._tasks[stage, number]
                task.process(Chunk(*columns))
                self._answer(task, is_end=False)
            case "F":
                stage, *calls = payload
                self._channel.send("R", self._folds(stage).run(Calls(*calls)))
            case "B":
                self._begin(*payload)
            case "E":
                task = self._tasks[payload]
                task.end_batch()
                self._answer(task, is_end=True)
            case "D":
                stage, code = payload
                self._codes[stage] = pickle.loads(code)
            case _:
                raise ValueError(f"unknown message kind {kind!r}")

    def _folds(self, stage: int) -> FoldStage:
        found = self._fold_stages.get(stage)
        if found is None:
            found = self._fold_stages[stage] = FoldStage(cast("FoldCode", self._codes[stage]), self._process)
        return found

    def _begin(self, stage: int, number: int, fresh: bool, clocks: dict[str, int], wall: int | None) -> None:
        task = self._tasks.get((stage, number))
        if task is not None and not fresh:
            task.begin_batch(clocks, wall)
            return
        if task is not None:
            del self._tasks[stage, number]
            task.close()
        code = cast("StageCode", self._codes[stage])
        self._tasks[stage, number] = Task(code, number, self._process, clocks, wall)

    def _answer(self, task: Task, *, is_end: bool) -> None:
        self._channel.send("R", task.result(is_end=is_end))
        task.clear(is_end=is_end)


def serve(channel: Channel) -> None:
    """Serve a JVM until it closes its end."""
    server = Server(channel)
    try:
        server.run()
    finally:
        server.close()
