"""Turns a state directory into what the application was when it last ran there, and back."""

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
"""The first directory of positions and state; later ones have a number behind it."""
_COPY = re.compile(r"-copy\d*$")
"""What stands behind the name of a table's store in that of its copy."""
_FILE = "application.json"
_FORMAT = 2


@dataclass(frozen=True, slots=True)
class StoreForm:
    """How a store is kept, and what it is."""

    stage: int
    """The exchange that it stands behind: stages without one between them keep their state together."""
    kind: str
    """memory, rocksdb or auto."""
    key: str
    value: str
    holds: str = "key_value"
    """What it holds: rows by key, windows, sessions, versions, an operator's own."""
    retention: int | None = None
    """How far back it reaches, in milliseconds; None where a key has one row."""
    timed: bool = False
    """Rows of all keys are found by their time."""
    rows: str = ""
    """How the rows of one key differ."""
    operator: str = ""
    windows: str = ""
    topics: tuple[str, ...] = ()
    partitions: int = 0
    clocks: tuple[str, ...] = ()
    print: str = ""
    """Stands for the operators that keep and feed the store."""
    is_global: bool = False


@dataclass(frozen=True, slots=True)
class Identity:
    """What the next start on the same state directory has to know."""

    application: str
    topics: Mapping[str, str]
    """The ids of the topics that are read: a topic that is deleted and created again has another one."""
    partitions: Mapping[str, int]
    """Of the topics that are read, and of the repartitions: they decide which task keeps a key."""
    stages: int
    """How many exchanges there are: behind each there is state of its own."""
    stores: Mapping[str, StoreForm]
    copies: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """The exchanges behind which a copy of a table is kept, by the name of the copy."""
    changelogs: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """By store, the id of its changelog's topic, and a number that stands for when that began."""
    tasks: int = 1
    checkpoint: str = CHECKPOINT
    """The directory of positions and state, beside this file."""
    place: str = ""
    """Where this file is: Spark's own files tell each other's places, and are of no use elsewhere."""


def is_copy(store: str) -> bool:
    """Tell whether a store has the name of a table's copy.

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
    """Tell whether an application has begun to read."""
    return (checkpoint / "offsets").is_dir() and any((checkpoint / "offsets").iterdir())


def read_identity(directory: Path) -> Identity | None:
    """Return what the application was that ran on `directory`, or None if none did.

    Raises:
        StateError: the file that tells it cannot be read, or is gone while the state is there.
    """
    file = directory / _FILE
    try:
        return _identity(json.loads(file.read_text(encoding="utf-8")))
    except FileNotFoundError:
        checkpoint = directory / CHECKPOINT
        if checkpoint.is_dir() and any(checkpoint.iterdir()):
            raise StateError(
                f"The state in {directory} cannot be used. "
                f"Found: {checkpoint} is there, but {file}, which tells whose it is, is not. "
                "Restore the file, or begin anew under another application.id or without this directory."
            ) from None
        return None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StateError(
            f"{file} tells whose state lies beside it, and cannot be read. Found: {error}. "
            "Restore it, or delete the directory to begin anew."
        ) from error


def write_identity(directory: Path, identity: Identity) -> None:
    """Put down what the application is; at once, or not at all."""
    file = directory / _FILE
    unfinished = file.with_suffix(".tmp")
    with unfinished.open("w", encoding="utf-8") as out:
        json.dump({"format": _FORMAT, **asdict(identity)}, out, indent=2)
        out.flush()
        os.fsync(out.fileno())
    unfinished.replace(file)


def _identity(content: dict[str, Any]) -> Identity:
    # What an earlier version did not know keeps its default.
    known = {part.name: content[part.name] for part in fields(Identity) if part.name in content}
    stores = {name: _form(form) for name, form in known.pop("stores").items()}
    known.setdefault("tasks", max(known["partitions"].values(), default=1))
    copies = {name: tuple(stages) for name, stages in known.pop("copies", {}).items()}
    logs = {name: (str(topic), int(since)) for name, (topic, since) in known.pop("changelogs", {}).items()}
    return Identity(**known, stores=stores, copies=copies, changelogs=logs)


def _form(content: dict[str, Any]) -> StoreForm:
    parts: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in content.items()}
    return StoreForm(**parts)
