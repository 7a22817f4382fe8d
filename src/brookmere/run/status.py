"""The status of a running application, and the file that shows it to other processes."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from brookmere.plan.stages import Plan
from brookmere.run.launch.start import RunningApplication
from brookmere.run.lifecycle import State
from brookmere.run.progress import Progress
from brookmere.state import StoreInfo, StoreStatus
from brookmere.state.description.status import (
    InputStatus,
    NodeStatus,
    QueryableStatus,
    StageStatus,
    Status,
    write_status,
)
from brookmere.topics.times import now_ms
from brookmere.topology.nodes import SinkNode

logger = logging.getLogger(__name__)

_MIN_SECONDS = 0.5
_MAX_SECONDS = 2.0


class StatusFile:
    """Writes the status to a file: after a batch, but not too often, and regularly without one."""

    def __init__(self, directory: Path, make: Callable[[], Status]) -> None:
        self._directory = directory
        self._make = make
        self._written = 0.0
        self._is_due = True
        self._has_failed = False

    def due(self) -> None:
        """Note that something has changed."""
        self._is_due = True

    def tick(self) -> None:
        """Write the file if it is time."""
        since = time.monotonic() - self._written
        if since >= (_MIN_SECONDS if self._is_due else _MAX_SECONDS):
            self.write(self._make)

    def write(self, make: Callable[[], Status]) -> None:
        """Write the file now. A failure is logged once: the application can run without the file."""
        self._written, self._is_due = time.monotonic(), False
        try:
            write_status(self._directory, make())
            self._has_failed = False
        except Exception:
            if not self._has_failed:
                logger.warning("the status of the application cannot be written", exc_info=True)
            self._has_failed = True


def status_of(
    run: RunningApplication,
    progress: Progress | None,
    *,
    state: State,
    error: Exception | None,
    followed: list[StoreStatus],
) -> Status:
    """Return the status of an application that was started.

    `followed` are the stores of the replica in this process.
    """
    plan = run.query.compiled.plan
    replicas = {each.name: each for each in followed}
    known = Status(
        application=run.application,
        state=state,
        pid=os.getpid(),
        started=run.started,
        time=now_ms(),
        error=None if error is None else str(error),
        stores=tuple(_queryable(info, replicas.get(info.name)) for info in run.stores),
    )
    if progress is None:
        return known
    stage_of = plan.stage_of()
    sinks = {n.name for n in plan.topology.nodes if isinstance(n, SinkNode) and n.changelog_of is not None}
    nodes = tuple(
        NodeStatus(name, stage_of[name], **counts)
        for name, counts in progress.nodes.items()
        if name not in sinks
    )
    return Status(
        **{name: getattr(known, name) for name in _KNOWN},
        batch=progress.batch,
        batch_time=round(progress.started.timestamp() * 1000),
        batch_ms=progress.duration // timedelta(milliseconds=1),
        batch_records=progress.records,
        records=progress.total_records,
        records_per_second=round(progress.records_per_second, 1),
        lag=progress.lag,
        skipped=progress.skipped,
        dropped=sum(node.dropped for node in nodes),
        late=sum(node.late for node in nodes),
        state_bytes=progress.state_bytes,
        nodes=nodes,
        inputs=tuple(
            InputStatus(each.topic, each.position, each.end, each.lag, each.time) for each in progress.inputs
        ),
        stages=tuple(
            StageStatus(plan.chains[each.number][0], _stores(plan, each.number), each.rows, each.bytes)
            for each in progress.stages
        ),
    )


_KNOWN = ("application", "state", "pid", "started", "time", "error", "stores")


def _stores(plan: Plan, chain: int) -> tuple[str, ...]:
    return tuple(sorted(name for stage in plan.chains[chain] for name in plan.stages[stage].stores))


def _queryable(info: StoreInfo, found: StoreStatus | None) -> QueryableStatus:
    if found is None:
        return QueryableStatus(info.name, info.kind, info.topic)
    return QueryableStatus(
        info.name, info.kind, info.topic, True, found.is_ready, found.entries, found.bytes, found.lag
    )
