"""Turns the name of a Debian package into a directory with it and all it needs; no administrator is asked."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from brookmere.kernel.cache import cache_directory

_PATIENCE = 600.0
# What the dynamic loader itself belongs to must be the machine's own.
_OF_THE_MACHINE = ("libc6", "libgcc", "gcc-", "libstdc++")
_NOT_NEEDED = ("recommends", "suggests", "conflicts", "breaks", "replaces", "enhances")


class NotFetchedError(Exception):
    """A program is neither installed nor to be had; the message says why."""


def unpacked(package: str, program: str) -> Path:
    """Return a folder of the cache where `package` is unpacked; `program` is a path of it.

    Raises:
        NotFetchedError: there is no apt-get, or it fails.
    """
    place = cache_directory() / package
    if not (place / program).exists():
        if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
            raise NotFetchedError(f"{package} is not installed, and there is no apt-get to fetch it with")
        try:
            _unpack(package, place)
        except subprocess.CalledProcessError as error:
            raise NotFetchedError(
                f"{package} is not installed, and fetching it fails: {error}: {error.stderr}"
            ) from error
    return place


def libraries(place: Path) -> dict[str, str]:
    """Return the environment in which programs of `place` find their libraries."""
    folders = {file.parent for file in place.glob("**/*-linux-gnu*/**/*.so*") if file.is_file()}
    return {"LD_LIBRARY_PATH": os.pathsep.join(map(str, sorted(folders)))}


def _unpack(package: str, place: Path) -> None:
    listed = _run(["apt-cache", "depends", "--recurse", *(f"--no-{kind}" for kind in _NOT_NEEDED), package])
    names = [line for line in listed.splitlines() if line[:1].isalnum()]
    wanted = [name for name in names if not name.startswith(_OF_THE_MACHINE)]
    fresh = place.with_name(f"{package}-{os.getpid()}")
    packages = fresh / "packages"
    packages.mkdir(parents=True)
    try:
        _run(["apt-get", "download", *wanted], packages)
        for file in packages.glob("*.deb"):
            _run(["dpkg", "-x", str(file), str(fresh)])
        shutil.rmtree(packages)
        shutil.rmtree(place, ignore_errors=True)
        fresh.rename(place)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _run(command: list[str], directory: Path | None = None) -> str:
    plain = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(
        command, cwd=directory, capture_output=True, text=True, check=True, timeout=_PATIENCE, env=plain
    )
    return done.stdout
