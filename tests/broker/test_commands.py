"""One node of a new installation writes the class archive that all nodes read later."""

from __future__ import annotations

from pathlib import Path

import pytest

from brookmere.broker.commands import server_command
from brookmere.broker.layout import new_layout
from brookmere.broker.node import Node


def flags_of(number: int, directory: Path) -> list[str]:
    layout = new_layout("4.3.1", 3).with_ports(None, [])
    node = Node(directory, layout.nodes[number - 1], tied=False)
    return [part for part in server_command(node, [directory / "kafka.jar"], "256m") if "Archive" in part]


def test_first_node_writes_the_archive_and_all_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROOKMERE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("BROOKMERE_CLASS_ARCHIVE", raising=False)

    (tmp_path / "kafka.jar").touch()

    (writes,) = flags_of(1, tmp_path)
    assert writes.startswith("-XX:ArchiveClassesAtExit=")
    assert flags_of(2, tmp_path) == []

    Path(writes.partition("=")[2]).write_bytes(b"whole")
    for number in (1, 2, 3):
        (reads,) = flags_of(number, tmp_path)
        assert reads == writes.replace("ArchiveClassesAtExit", "SharedArchiveFile")
