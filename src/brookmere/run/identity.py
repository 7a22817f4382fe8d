"""Turns a state directory into what the application was when it last ran there, and refuses another one."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from brookmere.errors import StateError

_FILE = "application.json"
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Identity:
    """What must be the same at every start on one state directory."""

    application: str
    topics: Mapping[str, str]
    """The ids of the topics that are read: a topic that is deleted and created again has another one."""
    partitions: Mapping[str, int]
    """Of the topics that are read, and of the repartitions: they decide which task keeps a key."""


def has_positions(checkpoint: Path) -> bool:
    """Tell whether an application has begun to read."""
    return (checkpoint / "offsets").is_dir() and any((checkpoint / "offsets").iterdir())


def claim(directory: Path, checkpoint: Path, identity: Identity) -> None:
    """Let the application go on with its state, and remember what it is now.

    Raises:
        StateError: the state is another application's, or does not fit this one any more.
    """
    file = directory / _FILE
    before = _read(file)
    if before is None and checkpoint.is_dir() and any(checkpoint.iterdir()):
        _refuse(identity, directory, f"{checkpoint} is there, but {file}, which tells whose it is, is not")
    for problem in () if before is None else _problems(before, identity):
        _refuse(identity, directory, problem)
    topics = {**(before.topics if before else {}), **identity.topics}
    _write(file, Identity(identity.application, topics, identity.partitions))


def _problems(before: Identity, now: Identity) -> Iterator[str]:
    if before.application != now.application:
        yield f"it belongs to the application {before.application!r}"
    for topic, known in before.topics.items():
        if now.topics.get(topic, known) != known:
            yield f"the topic {topic!r} was deleted and created again since the application read it"
    for topic, count in before.partitions.items():
        new = now.partitions.get(topic, count)
        if new != count:
            yield f"{topic!r} had {count} partitions and now has {new}, and the state is kept by partition"


def _refuse(identity: Identity, directory: Path, found: str) -> None:
    raise StateError(
        f"The application {identity.application!r} cannot go on with the state in {directory}. "
        f"Found: {found}. "
        "Begin anew under another application.id or with another state.dir, or delete this directory: "
        "then the application forgets its state and reads its topics from where auto.offset.reset says."
    )


def _read(file: Path) -> Identity | None:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        return Identity(content["application"], content["topics"], content["partitions"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise StateError(
            f"{file} tells whose state lies beside it, and cannot be read. Found: {error}. "
            "Restore it, or delete the directory to begin anew."
        ) from error


def _write(file: Path, identity: Identity) -> None:
    unfinished = file.with_suffix(".tmp")
    with unfinished.open("w", encoding="utf-8") as out:
        json.dump({"format": _FORMAT, **asdict(identity)}, out, indent=2)
        out.flush()
        os.fsync(out.fileno())
    unfinished.replace(file)
