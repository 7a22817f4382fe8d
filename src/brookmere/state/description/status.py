"""The status of an application, as a JSON document that other processes read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from brookmere.errors import StateError
from brookmere.state.description.store_file import replace_text

STATUS = "status.json"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """Counters of a node since the start."""

    name: str
    stage: int
    received: int
    forwarded: int
    dropped: int
    """Records it dropped, for example late ones and those without a key."""
    failed: int
    late: int = 0
    """How many of the dropped records were late."""


@dataclass(frozen=True, slots=True)
class InputStatus:
    """How far the application has read a topic."""

    topic: str
    position: tuple[int, ...]
    """By partition, the offset after the last processed record."""
    end: tuple[int, ...]
    """By partition, the end offset when the last batch started."""
    lag: int
    time: int | None = None
    """The highest timestamp of the topic's records: its stream time, in milliseconds since 1970."""


@dataclass(frozen=True, slots=True)
class StageStatus:
    """The state that the nodes of a stage keep together."""

    number: int
    stores: tuple[str, ...]
    rows: int
    bytes: int


@dataclass(frozen=True, slots=True)
class QueryableStatus:
    """A store that can be queried, and its replica in the application's process, if any."""

    name: str
    kind: str
    topic: str
    """Its changelog, or the source topic of the table."""
    is_followed: bool = False
    is_ready: bool = False
    entries: int = 0
    """The estimated number of rows in the replica."""
    bytes: int = 0
    lag: int = 0
    """The replica's lag behind the changelog, in records."""


@dataclass(frozen=True, slots=True)
class Status:
    """The status of an application. Times are milliseconds since 1970."""

    application: str
    state: str
    """One of "created", "running", "stopping", "stopped" and "failed"."""
    pid: int
    started: int | None
    time: int
    """When this status was written."""
    error: str | None = None
    batch: int | None = None
    """The number of the last batch; None before the first."""
    batch_time: int | None = None
    """When that batch started."""
    batch_ms: int = 0
    batch_records: int = 0
    records: int = 0
    """How many records were processed since the start."""
    records_per_second: float = 0.0
    lag: int = 0
    skipped: int = 0
    """How many records failed and were skipped since the start."""
    dropped: int = 0
    late: int = 0
    state_bytes: int = 0
    nodes: tuple[NodeStatus, ...] = ()
    inputs: tuple[InputStatus, ...] = ()
    stages: tuple[StageStatus, ...] = ()
    stores: tuple[QueryableStatus, ...] = ()

    def to_json(self) -> str:
        """Return the status as JSON."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Status:
        """Read the document; fields added by newer versions are ignored.

        Raises:
            StateError: this is not such a document.
        """
        try:
            found = json.loads(text)
            parts: dict[str, Any] = {
                name: tuple(_read(kind, each) for each in found.get(name, ()))
                for name, kind in _PARTS.items()
            }
            return _read(cls, found | parts)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise StateError(
                f"The status of the application cannot be read. Found: {error}. "
                "A running application rewrites it."
            ) from error


_PARTS: dict[str, type[Any]] = {
    "nodes": NodeStatus, "inputs": InputStatus, "stages": StageStatus, "stores": QueryableStatus,
}  # fmt: skip


def read_status(directory: Path) -> Status | None:
    """Return the last status in a state directory, or None.

    Raises:
        StateError: the file cannot be read.
    """
    try:
        return Status.from_json((directory / STATUS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


def write_status(directory: Path, status: Status) -> None:
    """Write a status atomically."""
    replace_text(directory / STATUS, status.to_json())


def _read(kind: type[T], found: Mapping[str, Any]) -> T:
    known = {part.name: found[part.name] for part in fields(kind) if part.name in found}  # type: ignore[arg-type]
    return kind(**{name: tuple(v) if isinstance(v, list) else v for name, v in known.items()})
