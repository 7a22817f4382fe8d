"""Builds the Scala sources in this folder, and the class path that runs them with Kafka Streams."""

from __future__ import annotations

from pathlib import Path

from brookmere.jars import resolve
from brookmere.kernel.build import KernelBuild, spark_jars


def class_path() -> list[Path]:
    """Return the class path for the programs; they are compiled on first use."""
    libraries = resolve("kafka-streams")
    build = KernelBuild(
        sources=Path(__file__).resolve().parent,
        name="streams",
        libraries=libraries,
        made_for=" ".join(jar.name for jar in libraries),
    )
    # After Kafka Streams' own jars: it needs a newer RocksDB than Spark has.
    return [build.jar(), *libraries, *spark_jars().glob("scala-library-*.jar")]
