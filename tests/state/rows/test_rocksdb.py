"""The files of a replica can be cleared while they are read, closed and opened again."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from brookmere.errors import InstanceError, StateError, StoreNotReadyError
from brookmere.state.rows.backend import META
from brookmere.state.rows.rocksdb import Files, closed


def filled(directory: Path) -> Files:
    files = Files(directory, ("rows",))
    files.write({"rows": {b"a": b"1", b"\xff\xff": b"2"}, META: {b"note": b"3"}})
    return files


def test_clearing_leaves_nothing_also_while_somebody_reads(tmp_path: Path) -> None:
    files = filled(tmp_path)
    reading = files.scan("rows")
    next(reading)

    files.clear()
    files.write({"rows": {b"b": b"4"}})

    assert list(reading) == list(files.scan("rows")) == [(b"b", b"4")]
    assert files.get(META, b"note") is None


def test_files_that_were_cleared_and_closed_open_again_in_the_same_process(tmp_path: Path) -> None:
    files = filled(tmp_path)
    files.clear()
    files.write({"rows": {b"b": b"4"}})
    files.close()

    again = Files(tmp_path, ("rows",))

    assert list(again.scan("rows")) == [(b"b", b"4")]


def test_files_that_are_in_use_are_told_from_damaged_ones(tmp_path: Path) -> None:
    files = filled(tmp_path)
    with pytest.raises(InstanceError, match=r"is in use.*another name or directory"):
        Files(tmp_path, ("rows",))

    files.close()
    (tmp_path / "CURRENT").write_text("damaged\n")
    with pytest.raises(StateError, match=r"Delete the directory"):
        Files(tmp_path, ("rows",))


def test_few_rows_are_counted_however_often_they_changed(tmp_path: Path) -> None:
    files = filled(tmp_path)
    for number in range(100):
        files.write({"rows": {b"a": b"%d" % number, b"c%d" % number: b"5"}})
        files.write({"rows": {b"c%d" % number: None}})

    assert files.entries("rows") == 2


def test_files_close_while_other_threads_look_up_rows(tmp_path: Path) -> None:
    for _ in range(20):
        files = filled(tmp_path)
        errors: list[Exception] = []
        readers = [threading.Thread(target=look_up, args=(files, errors)) for _ in range(3)]
        for reader in readers:
            reader.start()

        files.close()

        for reader in readers:
            reader.join(20.0)
        assert len(errors) == 3
        assert all(isinstance(closed(error), StoreNotReadyError) for error in errors)


def look_up(files: Files, errors: list[Exception]) -> None:
    """Ask until it fails."""
    try:
        while True:
            list(files.scan("rows"))
            files.get("rows", b"a")
    except Exception as error:  # noqa: BLE001 - the test looks at it
        errors.append(error)
