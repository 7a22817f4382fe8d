"""Turns the names of sets into a directory that holds their jars, for machines without a repository."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from brookmere.jars.resolving import resolve
from brookmere.kernel.build import spark_jars


def collect(names: Iterable[str], directory: Path) -> list[Path]:
    """Copy the jars of these sets to a directory and return where they are now.

    Jars of PySpark are left out: every installation has them.
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
