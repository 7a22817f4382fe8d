"""The Java commands that start a node or one of Kafka's tools."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from brookmere.broker.node import Node
from brookmere.kernel.archive import archive_flags
from brookmere.kernel.java import java_command


def server_command(node: Node, jars: Sequence[Path], heap: str) -> list[str]:
    """Return the command that starts a node."""
    flags = archive_flags(*jars, folder="classes-kafka")
    if node.id != 1 and any(flag.startswith("-XX:ArchiveClassesAtExit") for flag in flags):
        # One node writes the archive for all of them.
        flags = ()
    return [
        str(java_command()),
        *(f"-Xmx{heap}", "-Xms32m", "-XX:+UseSerialGC", *flags, "-Xlog:cds=off", "-Xlog:cds+dynamic=off"),
        f"-Dlog4j2.configurationFile={node.log_settings}",
        *("-cp", _class_path(jars), "kafka.Kafka", str(node.settings)),
    ]


def tool_command(main: str, jars: Sequence[Path], *arguments: str) -> list[str]:
    """Return the command for one of Kafka's tools, given by its class."""
    # Short runs need only the C1 compiler.
    flags = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
    return [str(java_command()), *flags, "-cp", _class_path(jars), main, *arguments]


def _class_path(jars: Sequence[Path]) -> str:
    return os.pathsep.join(map(str, jars))
