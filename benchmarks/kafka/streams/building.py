"""Turns the Scala sources beside it into a jar, and Kafka Streams with it into a class path."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

from brookmere.jars import resolve
from brookmere.kernel.build import spark_jars
from brookmere.kernel.cache import cache_directory
from brookmere.kernel.java import java_command

_SOURCES = Path(__file__).resolve().parent


def class_path() -> list[Path]:
    """Return what a JVM needs to run the programs; they are compiled on first use."""
    libraries = resolve("kafka-streams")
    files = sorted(_SOURCES.glob("*.scala"))
    digest = hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest()[:20]
    target = cache_directory() / "streams" / digest
    if not target.exists():
        tmp = target.with_suffix(".tmp")
        tmp.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [
                str(java_command()),
                "-Xss8m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                f"{spark_jars()}/*",
                "scala.tools.nsc.Main",
                "-nowarn",
                "-encoding",
                "UTF-8",
                "-target:17",
                "-classpath",
                ":".join(map(str, [*libraries, *spark_jars().glob("scala-library-*.jar")])),
                "-d",
                str(tmp),
                *map(str, files),
            ],
            check=True,
        )
        tmp.rename(target)
    return [target, *libraries, *spark_jars().glob("scala-library-*.jar")]
