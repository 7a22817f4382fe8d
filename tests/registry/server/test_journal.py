"""The journal has each change on the disk before it counts, and knows what a crash leaves behind."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from brookmere.errors import RegistryError
from brookmere.registry.server.journal import Journal, is_owned
from brookmere.registry.server.subjects import level_set


def test_events_are_read_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.append(level_set("a", "FULL"))
    journal.append(level_set(None, "NONE"))
    journal.close()

    again = Journal(tmp_path)
    again.close()

    assert again.state.levels == {"a": "FULL", None: "NONE"}


@pytest.mark.parametrize("cut", range(1, 40, 3))
def test_a_line_that_a_crash_cut_off_is_taken_out(
    tmp_path: Path, cut: int, caplog: pytest.LogCaptureFixture
) -> None:
    journal = Journal(tmp_path)
    journal.append(level_set("a", "FULL"))
    end = journal.path.stat().st_size
    journal.append(level_set("b", "FULL"))
    journal.close()
    os.truncate(journal.path, end + cut)

    with caplog.at_level(logging.WARNING):
        again = Journal(tmp_path)
    again.append(level_set("c", "NONE"))
    again.close()
    last = Journal(tmp_path)
    last.close()

    assert "cut off" in caplog.text
    assert last.state.levels == {"a": "FULL", "c": "NONE"}


@pytest.mark.parametrize("line", [b"{}\n", b"nothing\n", b'{"event":"new","subject":"a"}\n', b"[]\n"])
def test_a_damaged_line_is_named(tmp_path: Path, line: bytes) -> None:
    journal = Journal(tmp_path)
    journal.append(level_set("a", "FULL"))
    journal.close()
    with journal.path.open("ab") as file:
        file.write(line)

    with pytest.raises(RegistryError, match="damaged in line 2"):
        Journal(tmp_path)
    assert not is_owned(tmp_path)


def test_a_change_that_does_not_fit_on_the_disk_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path)
    journal.append(level_set("a", "FULL"))

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(RegistryError, match="No space left"):
            journal.append(level_set("b", "FULL"))
    journal.append(level_set("c", "NONE"))
    journal.close()

    again = Journal(tmp_path)
    again.close()
    assert again.state.levels == {"a": "FULL", "c": "NONE"}


def test_a_directory_has_one_owner(tmp_path: Path) -> None:
    assert not is_owned(tmp_path)
    journal = Journal(tmp_path)
    assert is_owned(tmp_path)
    journal.close()
    assert not is_owned(tmp_path)
