"""Archives of loaded classes (CDS), which make Java processes start faster."""

from __future__ import annotations

import logging
import os
import shutil
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from brookmere.errors import EngineError
from brookmere.kernel.cache import cache_directory, ensure_directory
from brookmere.kernel.java import find_java

logger = logging.getLogger(__name__)

SWITCH = "BROOKMERE_CLASS_ARCHIVE"
"""Set this environment variable to "off" to disable the archives."""

_KEPT = 2
# An archive of Spark takes some 200 MB.
_LEAST_FREE_BYTES = 2 << 30
# Writing it takes seconds when a process ends.
_WRITING_SECONDS = 600.0


def archive_flags(*jars: Path, folder: str = "classes", now: float | None = None) -> tuple[str, ...]:
    """Return the flags for a Java process with `jars`, or the directory of them, on its class path.

    The process then reads the archive of an earlier one, or writes one when it ends if there is none yet.
    Java ignores an archive that does not fit. Each kind of process has its own `folder` in the cache.
    """
    if os.environ.get(SWITCH) == "off":
        return ()
    place = cache_directory() / folder
    archive = place / f"{_key(jars)}.jsa"
    if any(character in str(archive) for character in " \"'\\"):
        # Spark splits the flags at spaces and quotes.
        return ()
    try:
        ensure_directory(place)
        if _is_whole(archive):
            os.utime(archive)
            return (f"-XX:SharedArchiveFile={archive}", "-Xshare:auto")
        begun = archive.stat().st_mtime if archive.exists() else None
        if begun is not None and (now or time.time()) - begun < _WRITING_SECONDS:
            return ()
        if shutil.disk_usage(place).free < _LEAST_FREE_BYTES:
            return ()
        _drop_old(place)
        return (f"-XX:ArchiveClassesAtExit={archive}",)
    except (OSError, EngineError) as error:
        # Without an archive, Java just starts more slowly.
        logger.debug("no class archive: %s", error)
        return ()


def _key(jars: Sequence[Path]) -> str:
    java = find_java()
    program = (java.home / "bin" / "java").resolve()
    parts = (
        str(program),
        str(program.stat().st_mtime_ns),
        java.origin,
        *(f"{jar}\n{jar.stat().st_mtime_ns}" for jar in jars),
    )
    return sha256("\n".join(parts).encode()).hexdigest()[:16]


def _is_whole(archive: Path) -> bool:
    """Return whether an archive is complete: Java writes the header of the file last."""
    try:
        with archive.open("rb") as file:
            return any(file.read(4))
    except FileNotFoundError:
        return False


def _drop_old(folder: Path) -> None:
    archives = sorted(folder.glob("*.jsa"), key=lambda path: path.stat().st_mtime, reverse=True)
    for archive in archives[_KEPT - 1 :]:
        archive.unlink(missing_ok=True)
