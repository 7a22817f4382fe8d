"""Turns a node, or one of Kafka's own tools, into the command that starts its Java."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from brookmere.broker.node import Node
from brookmere.kernel.archive import archive_flags
from brookmere.kernel.java import java_command


def server_command(node: Node, jars: Sequence[Path], heap: str) -> list[str]:
    """Return what starts a node."""
    flags = archive_flags(*jars, folder="classes-kafka")
    if node.id != 1 and any(flag.startswith("-XX:ArchiveClassesAtExit") for flag in flags):
        # One of the nodes writes the archive for all.
        flags = ()
    return [
        str(java_command()),
        *(f"-Xmx{heap}", "-Xms32m", "-XX:+UseSerialGC", *flags, "-Xlog:cds=off", "-Xlog:cds+dynamic=off"),
        f"-Dlog4j2.configurationFile={node.log_settings}",
        *("-cp", _class_path(jars), "kafka.Kafka", str(node.settings)),
    ]


def tool_command(main: str, jars: Sequence[Path], *arguments: str) -> list[str]:
    """Return what runs one of Kafka's tools, given by its class; it is short, so the quick JIT alone wins."""
    flags = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
    return [str(java_command()), *flags, "-cp", _class_path(jars), main, *arguments]


def _class_path(jars: Sequence[Path]) -> str:
    return os.pathsep.join(map(str, jars))
