"""Turns the state of one version of a program into that of another, in a checkpoint of its own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brookmere.errors import StateError
from brookmere.run.evolution.comparison import Evolution
from brookmere.run.evolution.identity import CHECKPOINT, table_of
from brookmere.run.query.checkpoints import Begun, begun, checkpointed_partitions
from brookmere.run.query.query import Query
from brookmere.topics import AnyTopics, Topics


@dataclass(frozen=True, slots=True)
class Stand:
    """Where an application has stopped."""

    checkpoint: Path
    batch: int
    """The last batch that is finished."""
    positions: str
    """What the source of embedded topics says about where it stood then."""
    partitions: int
    """Of Spark, over which the tasks are spread."""


def stand_of(checkpoint: Path, application: str, topics: AnyTopics) -> Stand | None:
    """Return where an application has stopped, or None if no batch of it has ever been finished.

    A batch that was begun and whose records are in no topic yet counts for nothing: it is done again.

    Raises:
        StateError: the last batch has written records, and is not finished.
    """
    found = begun(checkpoint)
    done = found.finished
    if found.is_unfinished:
        _refuse_written(checkpoint, application, topics, found)
    if done < 0:
        return None
    partitions = checkpointed_partitions(checkpoint)
    try:
        lines = (checkpoint / "offsets" / str(done)).read_text(encoding="utf-8").splitlines()
        return Stand(checkpoint, done, lines[2], partitions or 1)
    except (OSError, IndexError) as error:
        raise StateError(
            f"The checkpoint in {checkpoint} cannot be read. Found: {error}. "
            "Restore the directory from a copy, or begin anew without it."
        ) from error


def _refuse_written(checkpoint: Path, application: str, topics: AnyTopics, at: Begun) -> None:
    query, done = at.query, at.finished
    if not isinstance(topics, Topics):
        # Which of the batch's records are in Kafka, only the version that began it can find out.
        raise _unfinished(
            checkpoint, application, f"batch {done + 1} of the version that ran before was begun"
        )
    for name in topics.names():
        writer = topics[name].describe().writers.get(application)
        if writer is not None and (query is None or writer.query == query) and writer.batch > done:
            found = f"batch {writer.batch} of the version that ran before has written to the topic {name!r}"
            raise _unfinished(checkpoint, application, found)


def _unfinished(checkpoint: Path, application: str, found: str) -> StateError:
    return StateError(
        f"The state of the application {application!r} in {checkpoint.parent} cannot be changed now. "
        f"Found: {found}, and was not finished. "
        "Start that version once, it finishes the batch; then start the new one."
    )


def next_checkpoint(directory: Path, current: str) -> Path:
    """Return a directory for a checkpoint behind the current one."""
    number = current.removeprefix(f"{CHECKPOINT}-")
    return directory / f"{CHECKPOINT}-{int(number) + 1 if number.isdigit() else 2}"


def sweep(directory: Path, current: str) -> None:
    """Remove checkpoints that are not the current one: what a move has left behind, or never finished."""
    for path in directory.glob(f"{CHECKPOINT}*"):
        if path.name != current and path.is_dir():
            shutil.rmtree(path)


def move(evolution: Evolution, stand: Stand, launch: Callable[..., Query]) -> None:
    """Run the first batch of a new checkpoint, which reads nothing and takes the state over.

    `launch` starts the query of the new version with the options it is given.

    Raises:
        StateError: the state could not be taken over; the old checkpoint is as it was.
    """
    query = launch(
        trigger={"availableNow": True},
        takeover=json.dumps(_takeover(evolution, stand)),
        begin=stand.positions,
        stay=True,
    )
    try:
        query.handle.awaitTermination()
    except Exception as error:
        failed = query.failure()
        raise StateError(
            f"The state of the application {evolution.now.application!r} could not be taken over by this "
            f"version of the program. Found: {failed or error}. "
            "Nothing was changed: the version that ran before still fits, and starting again tries again."
        ) from error
    finally:
        query.stop()


def _takeover(evolution: Evolution, stand: Stand) -> dict[str, Any]:
    before = evolution.before
    return {
        "checkpoint": f"file:{stand.checkpoint.resolve()}",
        "version": stand.batch + 1,
        "partitions": stand.partitions,
        "tasks": before.tasks,
        "stages": before.stages,
        "stores": list(_stores(evolution)),
        "clocks": list(_clocks(evolution)),
    }


def _stores(evolution: Evolution) -> Iterator[dict[str, Any]]:
    before, now = evolution.before, evolution.now
    places = [(name, form.stage, evolution.pairs.get(name), "") for name, form in now.stores.items()]
    # A copy has the rows of its table.
    places += [
        (name, stage, evolution.pairs.get(table_of(name)), table_of(name))
        for name, stages in now.copies.items()
        for stage in stages
    ]
    for name, stage, old, table in places:
        if old is None:
            continue
        was = before.stores[old]
        yield {
            "name": name,
            "stage": stage,
            "from": old,
            "from_stage": was.stage,
            "kind": was.kind,
            "retention": was.retention,
            "timed": was.timed,
            "is_global": was.is_global,
            "table": table,
        }
    yield from _own_copies(evolution)


def _own_copies(evolution: Evolution) -> Iterator[dict[str, Any]]:
    """Yield the copies of tables whose rows no store has, because Python code makes them."""
    before, now = evolution.before, evolution.now
    for name, stages in now.copies.items():
        known = before.copies.get(name, ())
        if table_of(name) in now.stores or not known:
            continue
        for stage in stages:
            yield {
                "name": name,
                "stage": stage,
                "from": name,
                "from_stage": stage if stage in known else known[0],
                "kind": "auto",
                "retention": None,
                "timed": False,
                "is_global": False,
                "table": "",
            }


def _clocks(evolution: Evolution) -> Iterator[dict[str, Any]]:
    for new, old in evolution.pairs.items():
        was, form = evolution.before.stores[old], evolution.now.stores[new]
        same = len(was.clocks) == len(form.clocks)
        # Where nodes came or went, only those of the same name are known to be the same.
        pairs = zip(was.clocks, form.clocks, strict=True) if same else ((c, c) for c in form.clocks)
        for source, target in pairs:
            yield {"stage": form.stage, "from_stage": was.stage, "from": source, "to": target}
