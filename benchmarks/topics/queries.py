"""Starts the query of a case, from its topic to a new one."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from benchmarks.failures import QueryFailedError
from benchmarks.topics import native
from benchmarks.topics.cases import Case, topology
from benchmarks.topics.filling import PARTITIONS
from brookmere.plan.stages import plan
from brookmere.run.compile.compiler import compile_plan
from brookmere.run.query.query import QueryOptions, TopicsQuery, read_topics
from brookmere.run.query.transports import Embedded

_PATIENCE = 300.0
_ASK_AGAIN = 0.5


@dataclass(frozen=True, slots=True)
class Running:
    """A started query."""

    name: str
    handle: StreamingQuery
    stop: Callable[[], None]
    exchanged: Callable[[], tuple[int, int]]
    """The number of rows that passed exchanges since the start, and the nanoseconds of writing state."""

    def wait(self, is_done: Callable[[], bool], *, poll: float) -> None:
        """Wait for something that the query does. Polls rarely, because polling costs the JVM time.

        Raises:
            QueryFailedError: the query ended, or took too long.
        """
        began = asked = time.monotonic()
        while not is_done():
            time.sleep(poll)
            now = time.monotonic()
            if now - asked < _ASK_AGAIN:
                continue
            asked = now
            if not self.handle.isActive or now - began > _PATIENCE:
                raise QueryFailedError(f"{self.name}: {self.handle.exception() or 'it does not finish'}")


def start(
    case: Case, *, session: SparkSession, topics: Path, out: str, checkpoint: Path, limit: int
) -> Running:
    """Start the query of a case; a limit of 0 puts the whole backlog into one batch."""
    if case.engine == "PySpark":
        handle = native.start(
            case.workload, session=session, topics=topics, out=out, checkpoint=checkpoint, limit=limit
        )
        return Running(case.name, handle, handle.stop, lambda: (0, 0))
    if case.step == "read":
        cores = session.sparkContext.defaultParallelism
        rows = read_topics(
            session, Embedded(topics), [case.workload.topic], layout="raw", limit=limit, cores=cores
        )
        handle = rows.writeStream.format("noop").option("checkpointLocation", str(checkpoint)).start()
        return Running(case.name, handle, handle.stop, lambda: (0, 0))
    planned = plan(topology(case, out), {case.workload.topic: PARTITIONS})
    compiled = compile_plan(planned, session, last_per_batch=case.emit == "last")
    options = QueryOptions(max_batch_records=limit)
    query = TopicsQuery(compiled, session, Embedded(topics), "bench", options).start(checkpoint)
    assembly: Any = query.assembly
    stages = range(1, len(planned.stages))

    def exchanged() -> tuple[int, int]:
        times = [list(assembly.stageTimes(stage)) for stage in stages]
        return sum(rows for _, _, rows in times), sum(writing for _, writing, _ in times)

    return Running(case.name, query.handle, query.stop, exchanged)
