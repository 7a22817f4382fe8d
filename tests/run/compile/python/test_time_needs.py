"""What a processor has to be told of time is found in its code."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from brookmere.run.compile.python.time_needs import TimeNeeds, time_needs
from brookmere.worker.api.processor import Processor

_SECOND = timedelta(seconds=1)


class Plain(Processor):
    def process(self, record: Any) -> None:
        self.context.forward(record)


class Reading(Plain):
    def process(self, record: Any) -> None:
        if self.context.stream_time > 5:
            self.context.forward(record)


class Scheduling(Plain):
    def init(self, context: Any) -> None:
        def late() -> None:
            context.schedule(_SECOND, "stream_time", self.tick)

        late()

    def tick(self, time: int) -> None:
        """Do nothing."""


class Watching(Plain):
    def init(self, context: Any) -> None:
        context.schedule(_SECOND, "wall_clock", print)


class Inheriting(Watching):
    """Has all of its base."""


class Saying(Plain):
    reads_stream_time = True
    uses_wall_clock = True


def _annotated() -> Scheduling:
    raise AssertionError("the annotation says enough")


@pytest.mark.parametrize(
    ("supplier", "needs"),
    [
        (Plain, TimeNeeds(False, False)),
        (Reading, TimeNeeds(True, False)),
        (Scheduling, TimeNeeds(True, False)),
        (Watching, TimeNeeds(True, True)),
        (Inheriting, TimeNeeds(True, True)),
        (Saying, TimeNeeds(True, True)),
        (lambda: Reading(), TimeNeeds(True, False)),
        (_annotated, TimeNeeds(True, False)),
    ],
)
def test_needs_are_those_of_the_class_and_its_bases(supplier: Any, needs: TimeNeeds) -> None:
    assert time_needs(supplier) == needs
