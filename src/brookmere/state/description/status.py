"""Says how an application is, as a document that other processes read: dataclasses to JSON, and back."""

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
    """What a node has done since the start."""

    name: str
    stage: int
    received: int
    forwarded: int
    dropped: int
    """Records that it left out, such as those without a key and those that came too late."""
    failed: int
    late: int = 0
    """Those of the dropped ones that came too late."""


@dataclass(frozen=True, slots=True)
class InputStatus:
    """Where the application stands in a topic that it reads."""

    topic: str
    position: tuple[int, ...]
    """By partition, the offset behind the last record that is processed."""
    end: tuple[int, ...]
    """By partition, the end of the topic when the last batch began."""
    lag: int
    time: int | None = None
    """The latest time that a record of the topic had, in milliseconds since 1970: its stream time."""


@dataclass(frozen=True, slots=True)
class StageStatus:
    """What the nodes of a stage keep together as their state."""

    number: int
    stores: tuple[str, ...]
    rows: int
    bytes: int


@dataclass(frozen=True, slots=True)
class QueryableStatus:
    """A store that can be asked, and its replica in the application's process, if there is one."""

    name: str
    kind: str
    topic: str
    """Its changelog, or the topic that the table is read from."""
    is_followed: bool = False
    is_ready: bool = False
    entries: int = 0
    """About how many rows the replica has."""
    bytes: int = 0
    lag: int = 0
    """How many records of the changelog the replica lacks."""


@dataclass(frozen=True, slots=True)
class Status:
    """How an application is. Times are milliseconds since 1970."""

    application: str
    state: str
    """One of "created", "running", "stopping", "stopped" and "failed"."""
    pid: int
    started: int | None
    time: int
    """When this was put down."""
    error: str | None = None
    batch: int | None = None
    """The number of the last batch; None before the first."""
    batch_time: int | None = None
    """When that batch began."""
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
        """Return the document."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Status:
        """Read the document; what a newer version has added is left out.

        Raises:
            StateError: this is no such document.
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
                "It is written anew while the application runs."
            ) from error


_PARTS: dict[str, type[Any]] = {
    "nodes": NodeStatus, "inputs": InputStatus, "stages": StageStatus, "stores": QueryableStatus,
}  # fmt: skip


def read_status(directory: Path) -> Status | None:
    """Return the last status of the application on a state directory; None if there is none.

    Raises:
        StateError: the file cannot be read.
    """
    try:
        return Status.from_json((directory / STATUS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


def write_status(directory: Path, status: Status) -> None:
    """Put a status down; at once, or not at all."""
    replace_text(directory / STATUS, status.to_json())


def _read(kind: type[T], found: Mapping[str, Any]) -> T:
    known = {part.name: found[part.name] for part in fields(kind) if part.name in found}  # type: ignore[arg-type]
    return kind(**{name: tuple(v) if isinstance(v, list) else v for name, v in known.items()})
