"""The folder of an embedded topic: its settings, and its manifest, which is replaced atomically."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from brookmere.errors import DamagedTopicError, TopicError, UnknownTopicError
from brookmere.topics.log.files import explained, replace_durably, sync_folder, unique
from brookmere.topics.log.lock import locked
from brookmere.topics.log.manifest import FORMAT, Manifest, PartitionLog
from brookmere.topics.settings import TopicConfig

LOCK_FILE = "lock"
TOPIC_FILE = "topic.json"
MANIFEST_FILE = "manifest.json"
PREVIOUS_FILE = "manifest.previous.json"

# File systems may round a file's modification time to this resolution.
_TIME_STEP_NS = 50_000_000

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Cached:
    """A manifest that was read or written: its text, and the state of its file if that is certain."""

    manifest: Manifest
    text: bytes
    seen: tuple[int, int, int] | None = None


@dataclass(slots=True)
class TopicFolder:
    """The files of one topic. `id` distinguishes it from an earlier topic of the same name."""

    directory: Path
    name: str
    id: str
    partitions: int
    created: int
    config: TopicConfig
    _cached: _Cached | None = field(default=None, repr=False, compare=False)

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Read topic.json; raise FileNotFoundError if there is none."""
        path = directory / TOPIC_FILE
        text = path.read_bytes()
        try:
            content = json.loads(text)
            if content["format"] != FORMAT:
                raise ValueError(f"its format is {content['format']!r}, this version reads {FORMAT}")
            return cls(
                directory,
                content["name"],
                content["id"],
                content["partitions"],
                content["created"],
                TopicConfig.of(content["config"]),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DamagedTopicError(
                f"{path} is not a valid description of a topic: {error}. "
                "Restore the file from a backup, or delete the folder of the topic.",
                topic=directory.name,
                file=str(path),
            ) from error

    def write(self) -> None:
        """Write the files of a new topic into its folder."""
        content = {
            "format": FORMAT,
            "name": self.name,
            "id": self.id,
            "partitions": self.partitions,
            "created": self.created,
            "config": self.config.by_name(),
        }
        self.segments.mkdir(parents=True)
        self.lock.touch()
        replace_durably(self.directory / TOPIC_FILE, json.dumps(content, indent=2).encode())
        replace_durably(self.directory / MANIFEST_FILE, self.empty_manifest().to_json().encode())
        sync_folder(self.directory)

    def empty_manifest(self) -> Manifest:
        """Return the manifest of an empty topic."""
        return Manifest(self.id, (PartitionLog(),) * self.partitions)

    @property
    def segments(self) -> Path:
        """The folder of the segment files."""
        return self.directory / "segments"

    @property
    def lock(self) -> Path:
        """The file that is locked for every change of the manifest."""
        return self.directory / LOCK_FILE

    @property
    def maintenance_lock(self) -> Path:
        """The file that is locked while segments are rewritten, so that only one process does so."""
        return self.directory / "maintenance.lock"

    def manifest(self) -> Manifest:
        """Return the current manifest."""
        path = self.directory / MANIFEST_FILE
        try:
            with explained(f"The topic {self.name!r} cannot be read", path):
                return self._read_manifest(path)
        except FileNotFoundError as error:
            raise self._missing(path) from error
        except ValueError as error:
            raise self._damaged(path, str(error)) from error

    def change(self, step: Callable[[Manifest], Manifest | None]) -> Manifest:
        """Replace the manifest with the result of `step`, under the lock; None leaves it unchanged."""
        what = f"The topic {self.name!r} cannot be changed"
        with self.in_use(), explained(what, self.directory), locked(self.lock):
            before = self.manifest()
            after = step(before)
            if after is None:
                return before
            after = replace(after, version=before.version + 1)
            self.put(after)
            return after

    def put(self, manifest: Manifest) -> None:
        """Replace the current manifest; only under the lock."""
        path = self.directory / MANIFEST_FILE
        self._keep_previous(path)
        text = manifest.to_json().encode()
        replace_durably(path, text)
        self._cached = _Cached(manifest, text)
        try:
            sync_folder(self.directory)
        except OSError as error:
            # The change is already visible; an error would suggest that it did not happen.
            _log.warning("The folder %s could not be synced: %s", self.directory, error)

    def remove(self, files: Iterable[str]) -> None:
        """Remove the segment files of a change that did not happen, but none that the manifest names."""
        try:
            named = self.manifest().files()
        except TopicError:
            # Neither a topic recreated here nor a manifest that cannot be read refers to them.
            named = set()
        for file in files:
            if file not in named:
                (self.segments / file).unlink(missing_ok=True)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Explain a file that is missing because the whole topic is."""
        try:
            yield
        except FileNotFoundError as error:
            raise self._missing(Path(error.filename or self.directory)) from error

    def _read_manifest(self, path: Path) -> Manifest:
        cached = self._cached
        if cached and cached.seen == _look(path.stat()):
            return cached.manifest
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            text = file.read()
        manifest = cached.manifest if cached and cached.text == text else self._parsed(text)
        # A file replaced within the clock's resolution could look unchanged: read it again.
        settled = time.time_ns() - status.st_mtime_ns > _TIME_STEP_NS
        self._cached = _Cached(manifest, text, _look(status) if settled else None)
        return manifest

    def _parsed(self, text: bytes) -> Manifest:
        manifest = Manifest.from_json(text)
        if manifest.id != self.id:
            raise self._gone("deleted and recreated")
        if len(manifest.partitions) != self.partitions:
            found = len(manifest.partitions)
            raise ValueError(f"it has {found} partitions, the topic has {self.partitions}")
        return manifest

    def _keep_previous(self, path: Path) -> None:
        link = path.with_name(f"{PREVIOUS_FILE}.{unique()}.tmp")
        # The previous manifest helps repair; it is missing if the disk is full or has no hard links.
        with suppress(OSError):
            link.hardlink_to(path)
            link.replace(path.with_name(PREVIOUS_FILE))

    def _missing(self, path: Path) -> UnknownTopicError | DamagedTopicError:
        if not (self.directory / TOPIC_FILE).exists():
            return self._gone("deleted")
        return self._damaged(path, "it is missing")

    def _gone(self, how: str) -> UnknownTopicError:
        return UnknownTopicError(
            f"The topic {self.name!r} in {self.directory.parent} was {how} while it was in use. "
            f"Open it again; `brookmere topics create {self.name}` creates it."
        )

    def _damaged(self, path: Path, found: str) -> DamagedTopicError:
        return DamagedTopicError(
            f"{path.name} of the topic {self.name!r} is damaged: {found} ({path}). "
            f"`brookmere topics repair {self.name}` shows what can be recovered.",
            topic=self.name,
            file=str(path),
        )


def _look(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_ino, status.st_mtime_ns, status.st_size
