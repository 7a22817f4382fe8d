"""Read the status of an application, judge its age, and compute rates from it."""

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
    """A status, and whether the application that wrote it is still running."""

    status: Status
    gone: str | None
    """Why the status is out of date; None if it is current."""

    @property
    def is_running(self) -> bool:
        """Whether the application is running."""
        return self.gone is None and self.status.state in _ALIVE


def file_reader(known: Known) -> Reader:
    """Return a reader of the status in the state directory of an application."""

    def read() -> Status:
        found = read_status(known.directory)
        if found is None:
            raise CommandError(
                f"The application {known.id} has no status: there is no {STATUS} in {known.directory}.\n"
                "Start it, or name the directory of its state with --state-dir."
            )
        return found

    return read


def server_reader(remote: Remote, application: str | None) -> Reader:
    """Return a reader of the status that a server reports."""

    def read() -> Status:
        try:
            found = Status.from_json(json.dumps(remote.get("/status")[0]))
        except NotThere as error:
            raise CommandError(
                f"{remote.url} has no status of the application.\n"
                "It serves only the stores, and the application has not run on its state "
                "directory: start it there."
            ) from error
        if application is not None and found.application != application:
            raise CommandError(
                f"{remote.url} serves the application {found.application}, not {application}.\n"
                "Name that application, or use another --url."
            )
        return found

    return read


def watched(status: Status, *, is_here: bool) -> Watched:
    """Judge the age of a status; `is_here` if its process may be on this machine."""
    if status.state not in _ALIVE:
        return Watched(status, None)
    age = now_ms() - status.time
    if age < _FRESH_MS:
        return Watched(status, None)
    if is_here and not _is_there(status.pid):
        return Watched(status, f"its process {status.pid} is gone")
    if age < _LATE_MS:
        return Watched(status, None)
    return Watched(status, f"it has not reported for {age // 1000:,} s")


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
    """How many records per second each node receives and forwards, over the last few seconds."""

    _seen: deque[Status] = field(default_factory=deque)

    def follow(self, status: Status) -> Mapping[str, tuple[float, float]]:
        """Return the rates by name of node after a new status; none after the first one."""
        seen = self._seen
        if seen and (seen[-1].started, seen[-1].pid) != (status.started, status.pid):
            # A restart resets the counters.
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
