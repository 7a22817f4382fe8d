"""Turns the Scala sources beside it into a jar, and Kafka Streams with it into a class path."""

from __future__ import annotations

from pathlib import Path

from brookmere.jars import resolve
from brookmere.kernel.build import KernelBuild, spark_jars


def class_path() -> list[Path]:
    """Return what a JVM needs to run the programs; they are compiled on first use."""
    libraries = resolve("kafka-streams")
    build = KernelBuild(
        sources=Path(__file__).resolve().parent,
        name="streams",
        libraries=libraries,
        made_for=" ".join(jar.name for jar in libraries),
    )
    # Behind Kafka Streams' own jars: it needs a newer RocksDB than Spark has.
    return [build.jar(), *libraries, *spark_jars().glob("scala-library-*.jar")]
