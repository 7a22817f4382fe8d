"""The kernel's Scala sources are where their names say."""

from __future__ import annotations

import re
from pathlib import Path

from brookmere.kernel.build import KernelBuild

KERNEL = KernelBuild().sources
SOURCES = sorted(KERNEL.rglob("*.scala"))

# Access to private[sql] members of Spark needs a package inside Spark's own.
ELSEWHERE = {Path("spark"): "org.apache.spark.sql.brookmere"}


def package_of(folder: Path) -> str:
    return ELSEWHERE.get(folder) or ".".join(["brookmere", "kernel", *folder.parts])


def test_the_package_of_each_file_is_its_folder() -> None:
    assert len(SOURCES) > 100

    elsewhere = [
        f"{source.relative_to(KERNEL)}: {declared}"
        for source in SOURCES
        for declared in re.findall(r"^package (\S+)", source.read_text(), re.MULTILINE)
        if declared != package_of(source.parent.relative_to(KERNEL))
    ]

    assert elsewhere == []


def test_no_file_is_named_like_a_test() -> None:
    assert [source.name for source in SOURCES if source.stem.endswith("Test")] == []


def test_no_line_is_longer_than_120_columns() -> None:
    long = [
        f"{source.relative_to(KERNEL)}:{number}"
        for source in SOURCES
        for number, line in enumerate(source.read_text().splitlines(), 1)
        if len(line) > 120
    ]

    assert long == []
