"""Migrates the state directory of an application to the program that is about to run.

A program whose stores moved or changed gets a new checkpoint: the first batch of the new query reads no
records and takes over the state of the old checkpoint. `application.json` says which checkpoint is current,
so a process that dies in the middle of a migration leaves one or the other intact.
"""

from __future__ import annotations

import json
import logging
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from brookmere.errors import StateError
from brookmere.kernel.cache import write_atomically
from brookmere.run.evolution.comparison import Evolution
from brookmere.run.evolution.identity import (
    CHECKPOINT,
    Identity,
    has_positions,
    table_of,
    write_identity,
)
from brookmere.run.query.checkpoints import Begun, begun, checkpointed_partitions
from brookmere.run.query.query import StartPoint, TopicsQuery
from brookmere.topics import AnyTopics, Topics

logger = logging.getLogger(__name__)

# Spark stores the full path of its stores' schemas.
_SCHEMA_PATH = re.compile(r'file:[^"]*(?=/state/\d+/_stateSchema/)')


@dataclass(frozen=True, slots=True)
class StopPoint:
    """Where an application has stopped."""

    checkpoint: Path
    batch: int
    """The last finished batch."""
    positions: str
    """The offsets after that batch, as the source writes them."""
    partitions: int
    """The number of Spark partitions over which the tasks are spread."""


def migrate(
    directory: Path, evolution: Evolution | None, now: Identity, topics: AnyTopics, query: TopicsQuery
) -> Path:
    """Migrate the state to the program of `query`, record what the application is, and return its checkpoint.

    `evolution` is None where there is no state yet.

    Raises:
        StateError: the previous version has to finish its last batch first, or the state cannot be read.
    """
    if evolution is None:
        write_identity(directory, now)
        return directory / CHECKPOINT
    current = directory / evolution.before.checkpoint
    sweep(directory, current.name)
    if evolution.before.place != now.place:
        _relocate(current)
    if evolution.needs_move and has_positions(current):
        stop = _stop_point(current, now.application, topics)
        if stop is None:
            # No batch was ever finished, so there is neither state nor a position.
            shutil.rmtree(current)
        else:
            target = _next_checkpoint(directory, current.name)
            logger.info("%s: migrating the state to the new version of the program", now.application)
            _take_over(evolution, stop, query, target)
            current = target
    write_identity(directory, replace(now, checkpoint=current.name))
    sweep(directory, current.name)
    for finding in evolution.changes:
        level = logging.WARNING if finding.outcome == "dropped" else logging.INFO
        logger.log(level, "%s: store %s: %s", now.application, finding.store, finding)
    return current


def sweep(directory: Path, current: str) -> None:
    """Remove all checkpoints but the current one: the leftovers of finished and interrupted migrations."""
    for path in directory.glob(f"{CHECKPOINT}*"):
        if path.name != current and path.is_dir():
            shutil.rmtree(path)


def _relocate(checkpoint: Path) -> None:
    """Correct the paths in Spark's files after the directory was moved or copied; idempotent."""
    here = json.dumps(f"file:{checkpoint.resolve()}", ensure_ascii=False)[1:-1]
    for file in checkpoint.glob("state/*/_metadata/*/*"):
        if not file.name.isdigit():
            continue
        text = file.read_text(encoding="utf-8")
        moved = _SCHEMA_PATH.sub(lambda _: here, text)
        if moved != text:
            write_atomically(file, moved.encode())


def _stop_point(checkpoint: Path, application: str, topics: AnyTopics) -> StopPoint | None:
    """Return where an application has stopped, or None if it never finished a batch.

    A batch that was started without writing to any topic does not count: it is repeated.

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
        return StopPoint(checkpoint, done, lines[2], partitions or 1)
    except (OSError, IndexError) as error:
        raise StateError(
            f"The checkpoint in {checkpoint} cannot be read. Found: {error}. "
            "Restore the directory from a copy, or delete it to start from scratch."
        ) from error


def _refuse_written(checkpoint: Path, application: str, topics: AnyTopics, at: Begun) -> None:
    query, done = at.query, at.finished
    if not isinstance(topics, Topics):
        # Only the version that started the batch can find out which of its records are in Kafka.
        raise _unfinished(checkpoint, application, f"batch {done + 1} of the previous version was started")
    for name in topics.names():
        writer = topics[name].describe().writers.get(application)
        if writer is not None and (query is None or writer.query == query) and writer.batch > done:
            found = f"batch {writer.batch} of the previous version has written to the topic {name!r}"
            raise _unfinished(checkpoint, application, found)


def _unfinished(checkpoint: Path, application: str, found: str) -> StateError:
    return StateError(
        f"The state of the application {application!r} in {checkpoint.parent} cannot be migrated now. "
        f"Found: {found}, but is not finished. "
        "Start the previous version once to finish the batch, then start the new one."
    )


def _next_checkpoint(directory: Path, current: str) -> Path:
    number = current.removeprefix(f"{CHECKPOINT}-")
    return directory / f"{CHECKPOINT}-{int(number) + 1 if number.isdigit() else 2}"


def _take_over(evolution: Evolution, stop: StopPoint, query: TopicsQuery, target: Path) -> None:
    """Run the first batch of the new checkpoint `target`, which takes over the state of the old one.

    Raises:
        StateError: the migration failed; the old checkpoint is unchanged.
    """
    takeover = json.dumps(_takeover(evolution, stop))
    running = query.start(target, StartPoint(stop.positions, takeover=takeover))
    try:
        running.handle.awaitTermination()
    except Exception as error:
        failed = running.failure()
        raise StateError(
            f"The state of the application {evolution.now.application!r} could not be migrated to this "
            f"version of the program. Found: {failed or error}. "
            "Nothing was changed: the previous version can still run, and another start tries again."
        ) from error
    finally:
        running.stop()


def _takeover(evolution: Evolution, stop: StopPoint) -> dict[str, Any]:
    before = evolution.before
    return {
        "checkpoint": f"file:{stop.checkpoint.resolve()}",
        "version": stop.batch + 1,
        "partitions": stop.partitions,
        "tasks": before.tasks,
        "stages": before.stages,
        "stores": list(_stores(evolution)),
        "clocks": list(_clocks(evolution)),
    }


def _stores(evolution: Evolution) -> Iterator[dict[str, Any]]:
    before, now = evolution.before, evolution.now
    places = [(name, form.stage, evolution.pairs.get(name), "") for name, form in now.stores.items()]
    # A copy holds the rows of its table.
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
    """Yield the copies of tables whose rows are in no store, because Python code makes them."""
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
        # If nodes were added or removed, only those of the same name are known to be the same.
        pairs = zip(was.clocks, form.clocks, strict=True) if same else ((c, c) for c in form.clocks)
        for source, target in pairs:
            yield {"stage": form.stage, "from_stage": was.stage, "from": source, "to": target}
