"""Turns the status that an application puts down into one that is known to be fresh, and into rates."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from brookmere.cli.programs.applications import Known
from brookmere.cli.query.remote import NotThere, Remote
from brookmere.errors import CommandError
from brookmere.state.description.status import STATUS, Status, read_status
from brookmere.topics.times import now_ms

_ALIVE = ("created", "running", "stopping")
# An application writes its status every two seconds or more often.
_FRESH_MS = 4_000
_LATE_MS = 15_000
_RATE_MS = 5_000

Reader = Callable[[], Status]


@dataclass(frozen=True, slots=True)
class Watched:
    """A status, and whether the application that wrote it still runs."""

    status: Status
    gone: str | None
    """Why the status cannot be trusted any more; None for one that is right."""

    @property
    def is_running(self) -> bool:
        """Whether the application runs."""
        return self.gone is None and self.status.state in _ALIVE


def file_reader(known: Known) -> Reader:
    """Return what reads the status of an application from its state directory."""

    def read() -> Status:
        found = read_status(known.directory)
        if found is None:
            raise CommandError(
                f"The application {known.id} has told nothing: there is no {STATUS} in {known.directory}.\n"
                "Start it, or say where its state lies: --state-dir."
            )
        return found

    return read


def server_reader(remote: Remote, application: str | None) -> Reader:
    """Return what asks a server for the status."""

    def read() -> Status:
        try:
            found = Status.from_json(json.dumps(remote.get("/status")[0]))
        except NotThere as error:
            raise CommandError(
                f"{remote.url} knows nothing about how the application is.\n"
                "It serves the stores alone, and the application has not run on its state directory."
            ) from error
        if application is not None and found.application != application:
            raise CommandError(
                f"{remote.url} serves the application {found.application}, not {application}.\n"
                "Name the one that is meant."
            )
        return found

    return read


def watched(status: Status, *, is_here: bool) -> Watched:
    """Return a status with what is to say about its age; `is_here` if its process may be on this machine."""
    if status.state not in _ALIVE:
        return Watched(status, None)
    age = now_ms() - status.time
    if age < _FRESH_MS:
        return Watched(status, None)
    if is_here and not _is_there(status.pid):
        return Watched(status, f"its process {status.pid} is gone")
    if age < _LATE_MS:
        return Watched(status, None)
    return Watched(status, f"it has told nothing for {age // 1000:,} s")


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@dataclass(slots=True)
class Rates:
    """How many records per second each node takes in and gives out, over the last seconds."""

    _seen: deque[Status] = field(default_factory=deque)

    def follow(self, status: Status) -> Mapping[str, tuple[float, float]]:
        """Return the rates of nodes by name, after a new status; none after the first one."""
        seen = self._seen
        if seen and (seen[-1].started, seen[-1].pid) != (status.started, status.pid):
            # After a restart the counters begin anew.
            seen.clear()
        if not seen or status.time > seen[-1].time:
            seen.append(status)
        while len(seen) > 2 and status.time - seen[1].time >= _RATE_MS:
            seen.popleft()
        seconds = (status.time - seen[0].time) / 1000
        if seconds <= 0:
            return {}
        before = {node.name: node for node in seen[0].nodes}
        return {
            node.name: (
                (node.received - before[node.name].received) / seconds,
                (node.forwarded - before[node.name].forwarded) / seconds,
            )
            for node in status.nodes
            if node.name in before
        }
