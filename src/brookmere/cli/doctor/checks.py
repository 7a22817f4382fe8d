"""The checks of `brookmere doctor`, one per requirement."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Literal

from brookmere.cli.terminal.console import size
from brookmere.errors import EngineError
from brookmere.jars import KAFKA_VERSION, cached
from brookmere.kernel.build import KernelBuild, spark_jars
from brookmere.kernel.cache import cache_directory
from brookmere.kernel.java import find_java

_LITTLE_SPACE, _NO_SPACE = 1_000_000_000, 50_000_000
_LITTLE_MEMORY = 3_000_000_000
"""Spark's driver uses 2 GB of heap; Java and Python need some more."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What was checked, what was found, and what to do unless it is ok."""

    name: str
    state: Literal["ok", "warning", "wrong"]
    found: str
    remedy: str | None = None


def check_all() -> list[Finding]:
    """Run all checks, without changing anything."""
    return [check() for check in CHECKS]


def check_python() -> Finding:
    found = f"{sys.version.split()[0]} at {sys.executable}"
    if (3, 11) <= sys.version_info < (3, 14):
        return Finding("Python", "ok", found)
    return Finding("Python", "wrong", found, "Create an environment with Python 3.11, 3.12 or 3.13.")


def check_java() -> Finding:
    try:
        java = find_java()
    except EngineError as failure:
        return _failed("Java", failure)
    return Finding("Java", "ok", f"{java.version} ({java.origin})")


def check_spark() -> Finding:
    try:
        found = f"{version('pyspark')} at {spark_jars().parent}"
    except EngineError as failure:
        return _failed("Spark", failure)
    wanted = _wanted("pyspark")
    if not _fits(version("pyspark"), wanted):
        return Finding("Spark", "wrong", found, f"pip install 'pyspark{wanted}'")
    other = os.environ.get("SPARK_HOME")
    if other and Path(other).resolve() != spark_jars().parent.resolve():
        remedy = "Unset SPARK_HOME, unless it is the same version of Spark."
        return Finding("Spark", "warning", f"{found}, but SPARK_HOME={other} is started instead", remedy)
    return Finding("Spark", "ok", found)


def check_arrow() -> Finding:
    wanted = _wanted("pyarrow")
    try:
        found = version("pyarrow")
    except PackageNotFoundError:
        return Finding("PyArrow", "wrong", "not installed", f"pip install 'pyarrow{wanted}'")
    if not _fits(found, wanted):
        return Finding("PyArrow", "wrong", found, f"pip install 'pyarrow{wanted}'")
    return Finding("PyArrow", "ok", found)


def check_kernel() -> Finding:
    try:
        jar = KernelBuild().compiled_jar()
    except (EngineError, PackageNotFoundError) as failure:
        return _failed("kernel", failure)
    if jar is None:
        remedy = "The first run compiles it, which takes half a minute; `brookmere doctor --fix` does it now."
        return Finding("kernel", "warning", "not compiled yet", remedy)
    return Finding("kernel", "ok", f"compiled, {jar}")


def check_kafka() -> Finding:
    """Check for the jars that a program needs to run on Kafka; they are optional."""
    try:
        there = cached("kafka-clients") is not None
    except EngineError as failure:
        return _failed("Kafka", failure)
    if there:
        return Finding("Kafka", "ok", f"clients {KAFKA_VERSION} in the cache")
    remedy = "The first run on Kafka downloads them, unless jars.dir names a directory that has them."
    return Finding("Kafka", "warning", "clients not downloaded yet", remedy)


def check_cache() -> Finding:
    return _directory("cache", cache_directory(), "Set BROOKMERE_CACHE to a writable directory.")


def check_home() -> Finding:
    home = Path(os.environ.get("BROOKMERE_HOME") or ".brookmere").absolute()
    remedy = "Change to a writable directory, or set BROOKMERE_HOME to one."
    return _directory("home", home, remedy)


def check_temporary() -> Finding:
    remedy = "Set TMPDIR to a writable directory."
    try:
        return _directory("temporary files", Path(tempfile.gettempdir()), remedy)
    except FileNotFoundError as failure:
        return Finding("temporary files", "wrong", str(failure), remedy)


def check_memory() -> Finding:
    free = _free_memory()
    if free is None:
        return Finding("memory", "ok", "unknown on this system")
    if free < _LITTLE_MEMORY:
        remedy = "Close other programs, or give Spark less memory: -c spark.driver.memory=1g."
        return Finding("memory", "warning", f"{size(free)} free", remedy)
    return Finding("memory", "ok", f"{size(free)} free")


CHECKS: tuple[Callable[[], Finding], ...] = (
    check_python,
    check_java,
    check_spark,
    check_arrow,
    check_kernel,
    check_kafka,
    check_cache,
    check_home,
    check_temporary,
    check_memory,
)


def _failed(name: str, failure: Exception) -> Finding:
    lines = str(failure).splitlines()
    return Finding(name, "wrong", " ".join(lines[:-1]) or lines[0], lines[-1] if len(lines) > 1 else None)


def _directory(name: str, directory: Path, remedy: str) -> Finding:
    """Check that a directory, or the one it would be created in, is writable and has free space."""
    existing = directory
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    shown = str(directory) if existing == directory else f"{directory} (not created yet)"
    if not existing.is_dir() or not _writable(existing):
        return Finding(name, "wrong", f"{shown}: {existing} is not writable", remedy)
    free = shutil.disk_usage(existing).free
    found = f"{shown}, {size(free)} free"
    if free < _NO_SPACE:
        return Finding(name, "wrong", found, f"Free some disk space. {remedy}")
    if free < _LITTLE_SPACE:
        return Finding(name, "warning", found, f"Free some disk space. {remedy}")
    return Finding(name, "ok", found)


def _writable(directory: Path) -> bool:
    # Checking permissions is not enough: the disk may be mounted read-only.
    try:
        with tempfile.TemporaryFile(dir=directory):
            return True
    except OSError:
        return False


def _free_memory() -> int | None:
    """Return the available bytes of memory, within the limits of a container."""
    known: list[int] = []
    for line in _lines(Path("/proc/meminfo")):
        if line.startswith("MemAvailable:"):
            known.append(int(line.split()[1]) * 1024)
    group = Path("/sys/fs/cgroup")
    limit, used = _lines(group / "memory.max"), _lines(group / "memory.current")
    if limit and used and limit[0].isdigit():
        known.append(int(limit[0]) - int(used[0]))
    if not known and hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        known.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(known, default=None)


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.is_file() else []


def _wanted(package: str) -> str:
    """Return the versions of a package that Brookmere requires, such as '>=4.3,<4.4'."""
    for line in requires("brookmere") or ():
        name = line.split(";")[0].strip()
        if name.startswith(package):
            return name.removeprefix(package)
    return ""


def _fits(found: str, wanted: str) -> bool:
    for rule in filter(None, wanted.split(",")):
        sign, bound = (rule[:2], rule[2:]) if rule[1] == "=" else (rule[:1], rule[1:])
        here, there = _numbers(found), _numbers(bound)
        fits = {">=": here >= there, "<": here < there, "<=": here <= there, ">": here > there}
        if not fits.get(sign, True):
            return False
    return True


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.strip().split(".") if part.isdigit())
