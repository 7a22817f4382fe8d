"""Repair of damaged topics: removes damaged files and reports what is lost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from brookmere.errors import DamagedTopicError
from brookmere.topics.log.files import explained, replace_durably, sync_folder, unique
from brookmere.topics.log.folder import MANIFEST_FILE, PREVIOUS_FILE, TopicFolder
from brookmere.topics.log.lock import locked
from brookmere.topics.log.manifest import Manifest, PartitionLog, Segment
from brookmere.topics.log.segment import DamagedSegment, open_segment


@dataclass(frozen=True, slots=True)
class Damage:
    """A file that differs from what was written, and the records it holds or held."""

    file: Path
    found: str
    partition: int | None = None
    offsets: range = range(0)
    records: int = 0

    def __str__(self) -> str:
        if self.partition is None:
            return f"{self.file}: {self.found}"
        return (
            f"{self.file}: {self.found}; with it partition {self.partition} loses {self.records} records, "
            f"offsets {self.offsets.start} to {self.offsets.stop - 1}"
        )


@dataclass(frozen=True, slots=True)
class Repair:
    """The damage in a topic, and whether it was removed.

    `unnamed` are segment files that an earlier manifest does not name, if it had to be restored: they may
    hold the records that were appended last.
    """

    topic: str
    damages: tuple[Damage, ...]
    unnamed: tuple[Path, ...] = ()
    executed: bool = False

    def __bool__(self) -> bool:
        return bool(self.damages)

    @property
    def lost_records(self) -> int:
        """The number of lost records, as far as it is known."""
        return sum(damage.records for damage in self.damages)

    def __str__(self) -> str:
        if not self.damages:
            return f"The topic {self.topic!r} is not damaged."
        lines = [f"The topic {self.topic!r} is damaged:", *(f"  {damage}" for damage in self.damages)]
        if self.unnamed:
            lines.append("  The manifest before the last change is intact. It does not list these segments:")
            lines += [f"    {path.name}" for path in self.unnamed]
        kept = "The files are kept in segments/damaged." if self.executed else ""
        rest = "Everything else can be read." if self.executed else "Nothing has been changed yet."
        return "\n".join([*lines, f"{rest} {kept}".strip()])


def repair(folder: TopicFolder, *, execute: bool = False) -> Repair:
    """Check every file of a topic; with `execute` remove the damaged ones."""
    what = f"The topic {folder.name!r} cannot be repaired"
    with folder.in_use(), explained(what, folder.directory), locked(folder.maintenance_lock):
        manifest, damage = _manifest(folder)
        broken = dict(_broken(folder, manifest))
        unnamed = _unnamed(folder, manifest) if damage else ()
        damages = (*((damage,) if damage else ()), *broken.values())
        if execute and damages:
            with _kept_aside(folder) as aside:
                if damage:
                    _restore(folder, _without(manifest, broken), aside)
                else:
                    folder.change(lambda present: _without(present, broken))
                for path in (*(each.file for each in broken.values()), *unnamed):
                    if path.exists():
                        path.rename(aside / path.name)
    return Repair(folder.name, damages, unnamed, executed=execute and bool(damages))


def _manifest(folder: TopicFolder) -> tuple[Manifest, Damage | None]:
    try:
        return folder.manifest(), None
    except DamagedTopicError as error:
        previous = folder.directory / PREVIOUS_FILE
        try:
            manifest = Manifest.from_json(previous.read_bytes())
            if manifest.id != folder.id or len(manifest.partitions) != folder.partitions:
                raise ValueError("it belongs to another topic")
        except (FileNotFoundError, ValueError) as second:
            raise DamagedTopicError(
                f"The topic {folder.name!r} cannot be repaired: {error} The state before the last change, "
                f"{previous}, cannot be used either: {second}. Restore {MANIFEST_FILE} from a backup. The "
                f"records are in {folder.segments}, where any Arrow tool can read them, but not "
                "with their offsets.",
                topic=folder.name,
                file=error.file,
            ) from error
        path = folder.directory / MANIFEST_FILE
        found = "it is missing" if not path.exists() else "it cannot be read"
        return manifest, Damage(path, found)


def _broken(folder: TopicFolder, manifest: Manifest) -> Iterator[tuple[Segment, Damage]]:
    for partition, log in enumerate(manifest.partitions):
        for segment in log.segments:
            found = _fault(folder, segment)
            if found:
                path = folder.segments / segment.file
                offsets = range(segment.base, segment.end)
                yield segment, Damage(path, found, partition, offsets, segment.rows)


def _fault(folder: TopicFolder, segment: Segment) -> str | None:
    try:
        open_segment(folder.segments, segment, check=True)
    except FileNotFoundError:
        return "it is missing"
    except DamagedSegment as error:
        return str(error)
    except OSError as error:
        return f"the disk cannot read it ({error.strerror})"
    return None


def _unnamed(folder: TopicFolder, manifest: Manifest) -> tuple[Path, ...]:
    named = manifest.files()
    return tuple(sorted(path for path in folder.segments.glob("*.arrow") if path.name not in named))


def _without(manifest: Manifest, broken: dict[Segment, Damage]) -> Manifest:
    logs = []
    for log in manifest.partitions:
        left = tuple(segment for segment in log.segments if segment not in broken)
        if log.segments and log.segments[0] in broken:
            logs.append(PartitionLog(left[0].base if left else log.end, log.end, left))
        else:
            logs.append(PartitionLog(log.start, log.end, left))
    return replace(manifest, partitions=tuple(logs))


@contextmanager
def _kept_aside(folder: TopicFolder) -> Iterator[Path]:
    aside = folder.segments / "damaged"
    aside.mkdir(exist_ok=True)
    yield aside
    sync_folder(aside)
    sync_folder(folder.segments)


def _restore(folder: TopicFolder, manifest: Manifest, aside: Path) -> None:
    with locked(folder.lock):
        path = folder.directory / MANIFEST_FILE
        if path.exists():
            path.rename(aside / f"{MANIFEST_FILE}.{unique()}")
        # Not through the folder, which would keep the damaged manifest as the previous one.
        replace_durably(path, replace(manifest, version=manifest.version + 1).to_json().encode())
        sync_folder(folder.directory)
