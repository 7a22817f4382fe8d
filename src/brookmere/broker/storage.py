"""Format the data directories of a new Kafka."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from brookmere.broker.commands import tool_command
from brookmere.broker.layout import Layout, new_id
from brookmere.errors import BrokerError
from brookmere.kernel.cache import write_atomically
from brookmere.kernel.java import run_to_end

_META, _FEATURES = "meta.properties", "bootstrap.checkpoint"


def is_formatted(data: Path) -> bool:
    return (data / _META).exists()


def format_data(
    layout: Layout, data: Sequence[Path], settings: Path, jars: Sequence[Path], arguments: Sequence[str]
) -> None:
    """Format the data directories of all nodes; `settings` is the file of the first one.

    Kafka's tool formats the first node. The others only need the same files with their own ids, so
    no second Java process is started for them.
    """
    first, *others = data
    _run_tool(layout, settings, jars, arguments)
    for node, directory in zip(layout.nodes[1:], others, strict=True):
        directory.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(first / _FEATURES, directory / _FEATURES)
        meta = f"version=1\ncluster.id={layout.cluster}\nnode.id={node.id}\ndirectory.id={new_id()}\n"
        write_atomically(directory / _META, meta.encode())


def _run_tool(layout: Layout, settings: Path, jars: Sequence[Path], arguments: Sequence[str]) -> None:
    format = ("format", "-t", layout.cluster, "-c", str(settings), *arguments)
    outcome = run_to_end(tool_command("kafka.tools.StorageTool", jars, *format))
    if outcome.returncode != 0:
        raise BrokerError(
            f"Kafka's directory {settings.parent} cannot be formatted.\n"
            f"Found: {outcome.stdout.strip()}\n"
            "Fix the properties that Kafka rejects, or choose another directory: --dir DIR."
        )
