"""Runs code against a store of a task: one step per record, as a processor would."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from brookmere.record import Record
from brookmere.worker.api.context import ProcessorContext
from brookmere.worker.api.processor import Processor
from brookmere.worker.protocol.stage_code import ProcessWork, StoreCode
from tests.worker.jvm import Fed, Jvm, stage_of

Step = Callable[[Any], Any]


class Asking:
    """A store behind a real worker. `does` runs steps, one per record, and returns what they return."""

    def __init__(self, code: StoreCode, *, key: str = "k") -> None:
        self._key = key
        self._steps: list[Step] = []
        self._results: list[Any] = []
        self.jvm = Jvm(stage_of(ProcessWork(self._processor, False, False, False), code))

    def does(self, *steps: Step, ts: int = 0, cut: int | None = None) -> list[Any]:
        """Run steps as records of one batch, in chunks of `cut`; the first that fails raises here."""
        self._steps = list(steps)
        self._results = []
        answer = self.jvm.batch(*[Fed(self._key, 0, ts) for _ in steps], cut=cut)
        if answer.errors:
            raise self.jvm.heard[-1]
        return self._results

    def does_one(self, step: Step, ts: int = 0) -> Any:
        """Run one step and return what it returns."""
        (result,) = self.does(step, ts=ts)
        return result

    def _processor(self) -> Processor:
        asking = self

        class Stepping(Processor):
            def init(self, context: ProcessorContext) -> None:
                (name,) = [store.name for store in asking.jvm.code.stores]
                self.store = context.store(name)

            def process(self, record: Record) -> None:
                step = asking._steps[len(asking._results)]
                asking._results.append(None)
                asking._results[-1] = step(self.store)

        return Stepping()
