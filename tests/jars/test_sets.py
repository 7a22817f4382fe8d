"""Every named jar is pinned, and those of PySpark exist."""

from __future__ import annotations

from importlib.metadata import version

import pytest

from brookmere.jars import SETS
from brookmere.jars.pins import pin
from brookmere.kernel.build import spark_jars


@pytest.mark.parametrize("name", SETS)
def test_every_library_is_pinned_but_the_connector_of_this_spark(name: str) -> None:
    unpinned = {
        (library.group, library.version)
        for candidate in SETS[name]
        for library in candidate.libraries
        if pin(library) is None
    }

    assert unpinned <= ({("org.apache.spark", version("pyspark"))} if name == "spark-kafka" else set())


@pytest.mark.parametrize("name", SETS)
def test_shared_libraries_are_among_those_of_pyspark_exactly_once(name: str) -> None:
    for candidate in SETS[name]:
        for shared in candidate.shared:
            assert len(list(spark_jars().glob(f"{shared}-[0-9]*.jar"))) == 1, shared


def test_connector_of_the_very_spark_is_tried_first() -> None:
    first, *others = SETS["spark-kafka"]

    assert first.libraries[0].version == version("pyspark")
    assert others
