"""What an application was when it last ran, as `application.json` in its state directory records it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from brookmere.errors import StateError

CHECKPOINT = "checkpoint"
"""The first checkpoint directory; later ones have a number at the end."""
_COPY = re.compile(r"-copy\d*$")
"""What the name of a copy adds to the name of the table's store."""
_FILE = "application.json"
_FORMAT = 2


@dataclass(frozen=True, slots=True)
class StoreForm:
    """What a store holds, and how it is stored."""

    stage: int
    """The exchange before it: stages without an exchange between them store their state together."""
    kind: str
    """memory, rocksdb or auto."""
    key: str
    value: str
    holds: str = "key_value"
    """What it holds: rows by key, windows, sessions, versions, or rows of an operator."""
    retention: int | None = None
    """The retention in milliseconds; None if a key has one row."""
    timed: bool = False
    """Whether rows of all keys are indexed by time."""
    rows: str = ""
    """How the rows of one key differ."""
    operator: str = ""
    windows: str = ""
    topics: tuple[str, ...] = ()
    partitions: int = 0
    clocks: tuple[str, ...] = ()
    print: str = ""
    """A fingerprint of the operators that own and feed the store."""
    is_global: bool = False


@dataclass(frozen=True, slots=True)
class Identity:
    """What the next start on the same state directory needs to know."""

    application: str
    topics: Mapping[str, str]
    """The ids of the topics that are read: a recreated topic has another id."""
    partitions: Mapping[str, int]
    """Of the topics that are read, and of repartitions: they decide which task stores a key."""
    stages: int
    """The number of exchanges: each has its own state after it."""
    stores: Mapping[str, StoreForm]
    copies: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """By copy of a table, the exchanges after which it is stored."""
    changelogs: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """By store, the id of its changelog topic, and a number for when the changelog started."""
    tasks: int = 1
    checkpoint: str = CHECKPOINT
    """The current checkpoint, in the same directory as this file."""
    place: str = ""
    """The path of this directory: Spark's files contain it and must be corrected after a move."""


def is_copy(store: str) -> bool:
    """Whether a store has the name of a table's copy.

    >>> is_copy("counts-copy"), is_copy("counts-copy2"), is_copy("counts")
    (True, True, False)
    """
    return _COPY.search(store) is not None


def table_of(copy: str) -> str:
    """Return the store of the table that a store is a copy of.

    >>> table_of("counts-copy2")
    'counts'
    """
    return _COPY.sub("", copy)


def has_positions(checkpoint: Path) -> bool:
    """Whether an application has started a batch."""
    return (checkpoint / "offsets").is_dir() and any((checkpoint / "offsets").iterdir())


def read_identity(directory: Path) -> Identity | None:
    """Return what the application was that ran on `directory`, or None if none did.

    Raises:
        StateError: the file cannot be read, or is missing although there is state.
    """
    file = directory / _FILE
    try:
        return _identity(json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        checkpoint = directory / CHECKPOINT
        if checkpoint.is_dir() and any(checkpoint.iterdir()):
            raise StateError(
                f"The state in {directory} cannot be used. "
                f"Found: {checkpoint} exists, but {file}, which describes it, does not. "
                "Restore the file, or start from scratch under another application.id or without this "
                "directory."
            ) from None
        return None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StateError(
            f"{file}, which describes the state in its directory, cannot be read. Found: {error}. "
            "Restore it, or delete the directory to start from scratch."
        ) from error


def write_identity(directory: Path, identity: Identity) -> None:
    """Record what the application is; atomically."""
    file = directory / _FILE
    unfinished = file.with_suffix(".tmp")
    with unfinished.open("w", encoding="utf-8") as out:
        json.dump({"format": _FORMAT, **asdict(identity)}, out, indent=2)
        out.flush()
        os.fsync(out.fileno())
    unfinished.replace(file)


def _identity(content: dict[str, Any]) -> Identity:
    # Fields that an earlier version of Brookmere did not write keep their defaults.
    known = {part.name: content[part.name] for part in fields(Identity) if part.name in content}
    stores = {name: _form(form) for name, form in known.pop("stores").items()}
    known.setdefault("tasks", max(known["partitions"].values(), default=1))
    copies = {name: tuple(stages) for name, stages in known.pop("copies", {}).items()}
    logs = {name: (str(topic), int(since)) for name, (topic, since) in known.pop("changelogs", {}).items()}
    return Identity(**known, stores=stores, copies=copies, changelogs=logs)


def _form(content: dict[str, Any]) -> StoreForm:
    parts: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in content.items()}
    return StoreForm(**parts)
