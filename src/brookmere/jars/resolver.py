"""Resolve sets of libraries to jars: from the cache, a directory or a Maven repository."""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from brookmere.errors import JarNotFoundError
from brookmere.jars.ivy import IvyError, download
from brookmere.jars.pins import checksum, pin
from brookmere.jars.sets import SETS, JarSet, Library
from brookmere.kernel.build import spark_jars
from brookmere.kernel.cache import cache_directory, ensure_directory, locked

logger = logging.getLogger("brookmere.jars")


def resolve(name: str, directory: Path | None = None) -> tuple[Path, ...]:
    """Return the jars of a set, downloading those that are not in the cache.

    With a `directory`, such as the setting `jars.dir`, they are taken from there and nothing is
    downloaded.

    Raises:
        JarNotFoundError: a jar is missing, has a wrong checksum, or cannot be downloaded.
    """
    if directory is not None:
        return _from_directory(name, directory)
    place = cache_directory() / "jars"
    return _cached(name, place) or _fetched(name, place)


def collect(names: Iterable[str], directory: Path) -> list[Path]:
    """Copy the jars of these sets to a directory, and return the copies.

    Jars of PySpark are not copied, because every installation has them.
    """
    directory.mkdir(parents=True, exist_ok=True)
    shared = spark_jars()
    wanted = {jar for name in names for jar in resolve(name) if jar.parent != shared}
    made = []
    for jar in sorted(wanted):
        for file in (jar, jar.with_name(f"{jar.name}.sha256")):
            if file.exists():
                shutil.copyfile(file, directory / file.name)
        made.append(directory / jar.name)
    return made


def cached(name: str) -> tuple[Path, ...] | None:
    """Return the jars of a set if all of them are in the cache."""
    return _cached(name, cache_directory() / "jars")


def _cached(name: str, place: Path) -> tuple[Path, ...] | None:
    for candidate in SETS[name]:
        if not missing(candidate.libraries, place):
            return _class_path(candidate, place)
    return None


def _fetched(name: str, place: Path) -> tuple[Path, ...]:
    failures = []
    with locked(place / "fetch.lock", logger, "is downloading jars"):
        _sweep(place)
        # Another process may have downloaded them meanwhile.
        if found := _cached(name, place):
            return found
        for candidate in SETS[name]:
            try:
                fetch(name, missing(candidate.libraries, place), place)
            except IvyError as failure:
                failures.append(str(failure))
            else:
                return _class_path(candidate, place)
    raise JarNotFoundError(
        f"The Java libraries of {name!r} are not in the cache, and cannot be downloaded.\n"
        f"Found: {failures[-1]}.\n"
        "Connect this machine to a Maven repository, or download them on another machine with "
        f"`brookmere kafka jars --to DIR {name}`, and name it here with --jars DIR or jars.dir=DIR."
    )


def _from_directory(name: str, directory: Path) -> tuple[Path, ...]:
    for candidate in SETS[name]:
        if not missing(candidate.libraries, directory):
            return _class_path(candidate, directory)
    faults = [_fault(library, directory) for library in missing(SETS[name][-1].libraries, directory)]
    raise JarNotFoundError(
        f"The directory {directory} does not have the Java libraries of {name!r}.\n"
        f"Found: {'; '.join(faults)}.\n"
        f"Fill it on a machine with access to a Maven repository: brookmere kafka jars --to DIR {name}."
    )


def missing(libraries: Sequence[Library], place: Path) -> list[Library]:
    """Return the libraries whose jar is missing from a directory or has a wrong checksum."""
    return [library for library in libraries if not _is_right(library, place / library.file)]


def fetch(name: str, libraries: Sequence[Library], place: Path) -> None:
    """Download jars to a directory; each is complete and verified before it gets its name.

    Raises:
        IvyError: a jar cannot be downloaded.
        JarNotFoundError: a jar has a wrong checksum.
    """
    ensure_directory(place)
    logger.info("downloading %s...", _described(name, libraries))
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=place) as made:
        new = Path(made)
        download(libraries, new)
        for library in libraries:
            jar, known = new / library.file, pin(library)
            sha256 = checksum(jar)
            if known is None:
                (place / f"{library.file}.sha256").write_text(sha256)
            elif known.sha256 != sha256:
                raise JarNotFoundError(
                    f"The {library.file} of the repository has a wrong checksum.\n"
                    f"Found: SHA-256 {sha256}; expected: {known.sha256}.\n"
                    "The file was discarded. Report it to the operator of the repository."
                )
            jar.replace(place / library.file)


def _is_right(library: Library, jar: Path) -> bool:
    if not jar.is_file():
        return False
    known = pin(library)
    if known is not None:
        return jar.stat().st_size == known.size and checksum(jar) == known.sha256
    # The checksum of an unpinned version was stored when it was downloaded.
    kept = jar.with_name(f"{jar.name}.sha256")
    return kept.is_file() and checksum(jar) == kept.read_text().strip()


def _fault(library: Library, directory: Path) -> str:
    known = pin(library)
    if (directory / library.file).is_file() and known is not None:
        return f"{library.file} is not the one with SHA-256 {known.sha256}"
    return f"{library.file} ({library.coordinates}) is missing"


def _class_path(candidate: JarSet, place: Path) -> tuple[Path, ...]:
    own = tuple(place / library.file for library in candidate.libraries)
    return own + tuple(_shared(name) for name in candidate.shared)


def _shared(name: str) -> Path:
    found = sorted(spark_jars().glob(f"{name}-[0-9]*.jar"))
    if not found:
        raise JarNotFoundError(
            f"PySpark's jars do not include {name}, which Kafka needs.\n"
            f"Found: no {name}-*.jar in {spark_jars()}.\n"
            "Reinstall the version of PySpark that brookmere requires."
        )
    return found[-1]


def _described(name: str, libraries: Sequence[Library]) -> str:
    pins = [pin(library) for library in libraries]
    sizes = [known.size for known in pins if known is not None]
    words = (
        f"{libraries[0].name} {libraries[0].version}"
        if len(libraries) == 1
        else f"{len(libraries)} jars of {name}"
    )
    return f"{words} ({sum(sizes) / 1e6:.0f} MB)" if len(sizes) == len(libraries) else words


def _sweep(place: Path) -> None:
    """Remove the files of a process that was killed during a download; the lock rules out a running one."""
    for left in place.glob(".fetching-*"):
        shutil.rmtree(left, ignore_errors=True)
