"""Turns a state directory into what the application was when it last ran there, and refuses another one."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from brookmere.errors import StateError

_FILE = "application.json"
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class StoreForm:
    """How a store is kept: in which stage, as which kind, with keys and values of which types."""

    stage: int
    kind: str
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class Identity:
    """What must be the same at every start on one state directory."""

    application: str
    topics: Mapping[str, str]
    """The ids of the topics that are read: a topic that is deleted and created again has another one."""
    partitions: Mapping[str, int]
    """Of the topics that are read, and of the repartitions: they decide which task keeps a key."""
    stages: int
    """How many stages keep state: each has its own."""
    stores: Mapping[str, StoreForm]


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
    _write(file, replace(identity, topics=topics))


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
    if before.stages != now.stages:
        yield (
            f"the program ran in {before.stages} stages with state and now runs in {now.stages}; "
            "a repartition or the first or last store came or went"
        )
    for name, form in now.stores.items():
        yield from _changes(name, before.stores.get(name, form), form)


def _changes(store: str, before: StoreForm, now: StoreForm) -> Iterator[str]:
    for part, was, is_now in (("keys", before.key, now.key), ("values", before.value, now.value)):
        if was != is_now:
            yield f"the store {store!r} has {part} of {was}, and the program needs {is_now}"
    if before.stage != now.stage:
        yield f"the store {store!r} has moved from stage {before.stage} to stage {now.stage}"
    # A store of the kind "auto" finds what one in memory has left, and no other finds what another has.
    if before.kind != now.kind and (before.kind, now.kind) != ("memory", "auto"):
        yield f"the store {store!r} is of the kind {before.kind}, and the program asks for {now.kind}"


def _refuse(identity: Identity, directory: Path, found: str) -> None:
    raise StateError(
        f"The application {identity.application!r} cannot go on with the state in {directory}. "
        f"Found: {found}. "
        "Run the program that fits (a new store= for a new result, too), or begin anew under another "
        "application.id or without this directory: then the application forgets its state and positions."
    )


def _read(file: Path) -> Identity | None:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        known = {part.name: content[part.name] for part in fields(Identity)}
        stores = {name: StoreForm(**form) for name, form in known.pop("stores").items()}
        return Identity(**known, stores=stores)
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
