"""The commands that run programs with Kafka Streams."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from benchmarks.kafka.streams.building import class_path
from brookmere.kernel.java import java_command

_MAIN = "brookmere.streams.Main"
_LOGGING = """\
rootLogger.level=WARN
rootLogger.appenderRef.console.ref=console
appender.console.type=Console
appender.console.name=console
appender.console.target=SYSTEM_ERR
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=%d %p %c{1}: %m%n
"""


def run_command(
    program: str, settings: Mapping[str, str], directory: Path, *, flags: tuple[str, ...] = ("-Xmx256m",)
) -> list[str]:
    """Return the command that runs a program in a JVM with these flags until its standard input ends.

    `settings` are those of Kafka Streams, and those of the program prefixed with `program.`: `in`, `table`
    and `out` are topics, `size.ms` and `grace.ms` describe windows. They are written to `directory`.
    """
    directory.mkdir(parents=True, exist_ok=True)
    properties = directory / "streams.properties"
    properties.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    return [*_java(directory, flags), program, str(properties)]


def keys_command(
    kind: str, direction: str, directory: Path, *, flags: tuple[str, ...] = ("-Xmx64m",)
) -> list[str]:
    """Return the command that converts windowed keys, one per line, to bytes ("write") or back ("read").

    `kind` is "session", or "time:SIZE" with the size of the windows in milliseconds.
    """
    directory.mkdir(parents=True, exist_ok=True)
    return [*_java(directory, flags), "keys", kind, direction]


def _java(directory: Path, flags: tuple[str, ...]) -> list[str]:
    logging = directory / "log4j2.properties"
    logging.write_text(_LOGGING)
    paths = os.pathsep.join(map(str, class_path()))
    return [str(java_command()), *flags, f"-Dlog4j2.configurationFile={logging}", "-cp", paths, _MAIN]
