"""Maintenance of embedded topics: retention, compaction, merging, and removal of unused files."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from brookmere.topics.log.files import explained, is_older, sync_folder
from brookmere.topics.log.folder import TopicFolder
from brookmere.topics.log.lock import locked, locked_if_free
from brookmere.topics.log.manifest import Manifest, Trash
from brookmere.topics.maintenance.compaction import compact
from brookmere.topics.maintenance.merge import due_merges, is_merge_due, merge
from brookmere.topics.maintenance.retention import expire
from brookmere.topics.maintenance.rewrite import Rewrite, replaced
from brookmere.topics.times import now_ms

# Files that no manifest names belong to an append in progress or, after this time, to one that crashed.
ORPHAN_AGE_MS = 3_600_000
# The manifest lists the trash, so it is bounded; readers of a removed file find the records in another.
_MOST_TRASH = 100
_LEAST_TRASH_AGE_MS = 1_000

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Maintained:
    """What maintenance has done."""

    expired_records: int = 0
    compacted_records: int = 0
    merged_segments: int = 0
    deleted_files: int = 0


def maintain(folder: TopicFolder, *, full: bool = False, now: int | None = None) -> Maintained:
    """Run all maintenance that is due; with `full` also compact and merge what could wait."""
    time = now_ms() if now is None else now
    what = f"The topic {folder.name!r} cannot be cleaned"
    with folder.in_use(), explained(what, folder.directory), locked(folder.maintenance_lock):
        expired = _expire(folder, time)
        compacted = _compact(folder, time, full=full) if folder.config.compacts else 0
        merged = sum(_merge(folder, each, time, full=full) for each in range(folder.partitions))
        deleted = _empty_trash(folder, time) + _remove_orphans(folder, time)
    return Maintained(expired, compacted, merged, deleted)


def merge_if_due(folder: TopicFolder, manifest: Manifest, partitions: Iterable[int]) -> None:
    """Merge small segments after an append, unless another process is doing so."""
    due = [each for each in partitions if is_merge_due(manifest.partitions[each].segments, folder.config)]
    if not due:
        return
    what = f"Segments of the topic {folder.name!r} cannot be merged"
    with (
        folder.in_use(),
        explained(what, folder.directory),
        locked_if_free(folder.maintenance_lock) as is_held,
    ):
        if is_held:
            for partition in due:
                _merge(folder, partition, now_ms())


def _expire(folder: TopicFolder, now: int) -> int:
    # Checked without the lock first: usually there is nothing to do.
    if expire(folder.manifest(), folder.config, now) is None:
        return 0
    before: list[Manifest] = []

    def step(manifest: Manifest) -> Manifest | None:
        before.append(manifest)
        return expire(manifest, folder.config, now)

    after = folder.change(step)
    return _rows(before[0]) - _rows(after)


def _compact(folder: TopicFolder, now: int, *, full: bool) -> int:
    removed = 0
    for partition, log in enumerate(folder.manifest().partitions):
        # Each group of segments is replaced before the next is written, to need less disk space.
        for rewrite in compact(folder, partition, log, now, full=full):
            if not _put(folder, rewrite, now):
                break
            left = rewrite.new.rows if rewrite.new else 0
            removed += sum(segment.rows for segment in rewrite.old) - left
    return removed


def _merge(folder: TopicFolder, partition: int, now: int, *, full: bool = False) -> int:
    merged = 0
    while True:
        segments = folder.manifest().partitions[partition].segments
        due = due_merges(segments, folder.config, all_sizes=full)
        for group in due:
            rewrite = merge(folder, partition, segments[group])
            if not _put(folder, rewrite, now):
                return merged
            merged += len(rewrite.old)
        if not due:
            return merged


def _put(folder: TopicFolder, rewrite: Rewrite, now: int) -> bool:
    """Replace the old segments with the rewritten one, and remove the oldest trash."""
    ripe: tuple[Trash, ...] = ()
    done = False

    def step(manifest: Manifest) -> Manifest | None:
        nonlocal ripe, done
        changed = replaced(manifest, rewrite, now)
        if changed is None:
            return None
        done = True
        ripe = _ripe(changed, folder, now)
        return _without(changed, ripe)

    try:
        sync_folder(folder.segments)
        folder.change(step)
    except Exception:
        _discard(folder, rewrite)
        raise
    if not done:
        _discard(folder, rewrite)
    _delete(folder, (trash.file for trash in ripe))
    return done


def _discard(folder: TopicFolder, rewrite: Rewrite) -> None:
    if rewrite.new:
        folder.remove([rewrite.new.file])


def _ripe(manifest: Manifest, folder: TopicFolder, now: int) -> tuple[Trash, ...]:
    most = len(manifest.trash) - _MOST_TRASH
    delay = folder.config.file_delete_delay_ms
    return tuple(
        trash
        for place, trash in enumerate(manifest.trash)
        if trash.at <= now - delay or (place < most and trash.at <= now - _LEAST_TRASH_AGE_MS)
    )


def _without(manifest: Manifest, deleted: tuple[Trash, ...]) -> Manifest:
    gone = set(deleted)
    return replace(manifest, trash=tuple(trash for trash in manifest.trash if trash not in gone))


def _empty_trash(folder: TopicFolder, now: int) -> int:
    deleted = _ripe(folder.manifest(), folder, now)
    if deleted:
        folder.change(lambda manifest: _without(manifest, deleted))
    return _delete(folder, (trash.file for trash in deleted))


def _remove_orphans(folder: TopicFolder, now: int) -> int:
    if not any(_orphans(folder, now)):
        return 0
    # Under the lock, no append can name a file that is being removed.
    with locked(folder.lock):
        found = list(_orphans(folder, now))
        for path in found:
            path.unlink(missing_ok=True)
    if found:
        _log.info("Removed %d files left behind by a crash in %s", len(found), folder.directory)
    return len(found)


def _orphans(folder: TopicFolder, now: int) -> Iterator[Path]:
    named = folder.manifest().files()
    unnamed = [path for path in folder.segments.iterdir() if path.name not in named and path.is_file()]
    for path in [*unnamed, *folder.directory.glob("*.tmp")]:
        if is_older(path, now - ORPHAN_AGE_MS):
            yield path


def _delete(folder: TopicFolder, files: Iterable[str]) -> int:
    count = 0
    for file in files:
        (folder.segments / file).unlink(missing_ok=True)
        count += 1
    return count


def _rows(manifest: Manifest) -> int:
    return sum(segment.rows for log in manifest.partitions for segment in log.segments)
