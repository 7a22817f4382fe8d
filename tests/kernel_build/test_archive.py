"""The class archive with which Java starts faster."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from brookmere.kernel.archive import SWITCH, archive_flags

_HOUR = 3600.0


@pytest.fixture
def jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BROOKMERE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv(SWITCH, raising=False)
    (tmp_path / "jars").mkdir()
    return tmp_path / "jars"


def archive_of(flags: tuple[str, ...]) -> Path:
    return Path(flags[0].partition("=")[2])


def test_first_process_writes_an_archive_and_the_next_one_reads_it(jars: Path) -> None:
    first = archive_flags(jars)
    archive_of(first).write_bytes(b"\xa8\xba\x0b\xf0 and so on")

    second = archive_flags(jars)

    assert first[0].startswith("-XX:ArchiveClassesAtExit=")
    assert second[0] == f"-XX:SharedArchiveFile={archive_of(first)}"


def test_other_jars_have_another_archive(jars: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()

    assert archive_of(archive_flags(jars)) != archive_of(archive_flags(tmp_path / "other"))


def test_archive_that_is_being_written_is_not_touched(jars: Path) -> None:
    archive_of(archive_flags(jars)).write_bytes(bytes(4096))

    assert archive_flags(jars) == ()


def test_archive_of_a_killed_process_is_rewritten(jars: Path) -> None:
    archive = archive_of(archive_flags(jars))
    archive.write_bytes(bytes(4096))

    flags = archive_flags(jars, now=archive.stat().st_mtime + _HOUR)

    assert flags == (f"-XX:ArchiveClassesAtExit={archive}",)


def test_old_archives_are_removed_before_a_new_one_is_written(jars: Path) -> None:
    folder = archive_of(archive_flags(jars)).parent
    for age, name in enumerate(["newest", "older", "oldest"]):
        (folder / f"{name}.jsa").write_bytes(b"x")
        os.utime(folder / f"{name}.jsa", (1e9 - age, 1e9 - age))

    archive_flags(jars)

    assert [path.name for path in folder.iterdir()] == ["newest.jsa"]


def test_archives_can_be_switched_off(jars: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "off")

    assert archive_flags(jars) == ()


def test_unwritable_cache_only_disables_the_archive(
    jars: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BROOKMERE_CACHE", str(tmp_path / "file"))

    assert archive_flags(jars) == ()
