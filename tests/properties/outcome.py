"""Turns a program and batches of records into all that can be seen of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from brookmere import Record, Text, Topology
from brookmere.testing import TopologyTestDriver
from tests.properties.cases import Case, Fed
from tests.properties.programs import build

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Outcome:
    """What a run left: the records of each topic in order, and the sorted rows of each store."""

    topics: dict[str, list[Row]]
    stores: dict[str, list[Row]]


@dataclass(frozen=True)
class Runner:
    """Runs a case on one engine in one way."""

    case: Case
    session: SparkSession
    options: dict[str, Any]
    optimization: str = "none"
    python: Callable[[int], bool] = lambda place: False
    """Tells for which steps the functions are Python's."""

    def run(self, batches: Sequence[Sequence[Fed]], *, restart_before: int | None = None) -> Outcome:
        """Feed the batches and return what is left; start anew before one of them if asked to."""
        return self.each(batches, restart_before=restart_before)[0]

    def each(
        self, batches: Sequence[Sequence[Fed]], *, restart_before: int | None = None
    ) -> tuple[Outcome, list[dict[str, list[Row]]]]:
        """Run, and return also what each batch wrote."""
        topology = build(self.case.program, optimization=self.optimization, python=self.python)
        with TopologyTestDriver(
            topology, session=self.session, partitions=self.case.partitions, **self.options
        ) as driver:
            written = []
            for number, batch in enumerate(batches):
                if number == restart_before:
                    driver.restart()
                driver.pipe_records(batch)
                written.append(self._written(driver))
            topics = {t: [row for batch in written for row in batch[t]] for t in self.case.program.outputs}
            return Outcome(topics, _stores(driver, topology)), written

    def _written(self, driver: TopologyTestDriver) -> dict[str, list[Row]]:
        # The partition of a record without key in a topic between depends on how many were written before.
        located = not self.case.program.has("through")
        return {
            topic: [
                _row(record, located)
                for record in driver.output_topic(topic, key=Text(), value=Text()).read_records_to_list()
            ]
            for topic in self.case.program.outputs
        }


def _row(record: Record, located: bool) -> Row:
    row = (record.key, record.value, record.timestamp, record.headers)
    return (*row, record.partition) if located else row


def _stores(driver: TopologyTestDriver, topology: Topology) -> dict[str, list[Row]]:
    return {store.name: sorted(driver.store(store.name).rows(), key=repr) for store in topology.stores}
