"""Memory and files answer alike."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brookmere.state.rows.backend import META, Backend
from brookmere.state.rows.memory import Memory
from brookmere.state.rows.rocksdb import Files

KEYS = st.binary(max_size=3)
WRITES = st.dictionaries(KEYS, st.none() | st.binary(max_size=3), max_size=8)


@pytest.fixture
def files(tmp_path: Path) -> Iterator[Files]:
    made = Files(tmp_path / "files", ("rows", "other"))
    yield made
    made.close()


@pytest.fixture(params=["memory", "files"])
def backend(request: pytest.FixtureRequest) -> Backend:
    return Memory(("rows",)) if request.param == "memory" else request.getfixturevalue("files")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(WRITES, max_size=6), lower=KEYS, upper=st.none() | KEYS)
def test_they_give_the_same_rows(
    files: Files, steps: list[dict[bytes, bytes | None]], lower: bytes, upper: bytes | None
) -> None:
    # Opening files takes longer than emptying a table.
    files.write({"rows": dict.fromkeys([key for key, _ in files.scan("rows")])})
    memory = Memory(("rows", "other"))

    for writes in steps:
        for backend in (files, memory):
            backend.write({"rows": writes, META: {b"note": b"n"}})

    for reverse in (False, True):
        found = [list(each.scan("rows", lower, upper, reverse=reverse)) for each in (files, memory)]
        assert found[0] == found[1]
    asked = [key for writes in steps for key in writes] + [lower]
    assert [files.get("rows", key) for key in asked] == [memory.get("rows", key) for key in asked]
    assert list(files.scan("other")) == []


def test_a_scan_over_many_pages_has_every_row_once(backend: Backend) -> None:
    rows = {number.to_bytes(3, "big"): b"" for number in range(5000)}
    backend.write({"rows": dict(rows)})

    assert [key for key, _ in backend.scan("rows")] == list(rows)
    assert [key for key, _ in backend.scan("rows", reverse=True)] == list(rows)[::-1]
    last = (4999).to_bytes(3, "big")
    assert [key for key, _ in backend.scan("rows", b"\x00\x10", last, reverse=True)] == [
        key for key in list(rows)[::-1] if b"\x00\x10" <= key < last
    ]


def test_a_scan_goes_on_while_rows_change(backend: Backend) -> None:
    backend.write({"rows": {number.to_bytes(3, "big"): b"old" for number in range(3000)}})

    found = []
    for place, (key, _) in enumerate(backend.scan("rows")):
        found.append(key)
        if place == 1500:
            backend.write({"rows": {number.to_bytes(3, "big"): None for number in range(0, 3000, 2)}})

    assert found == sorted(set(found))
    assert {key for key in found if key[-1] % 2} == {n.to_bytes(3, "big") for n in range(1, 3000, 2)}


def test_nothing_is_left_after_clear(backend: Backend) -> None:
    backend.write({"rows": {b"a": b"b"}, META: {b"note": b"n"}})

    backend.clear()

    assert (list(backend.scan("rows")), backend.get(META, b"note")) == ([], None)
    backend.write({"rows": {b"c": b"d"}})
    assert list(backend.scan("rows")) == [(b"c", b"d")]


def test_files_are_opened_again_although_somebody_reads_the_closed_ones(tmp_path: Path) -> None:
    first = Files(tmp_path, ("rows",))
    first.write({"rows": {number.to_bytes(3, "big"): b"" for number in range(3000)}})
    reader = first.scan("rows")
    next(reader)
    first.close()

    second = Files(tmp_path, ("rows",))

    assert len(list(second.scan("rows"))) == 3000
    second.close()


def test_what_was_written_is_there_after_opening_again(tmp_path: Path) -> None:
    first = Files(tmp_path, ("rows",))
    first.clear()
    first.write({"rows": {b"a": b"b"}, META: {b"note": b"n"}})
    first.close()

    second = Files(tmp_path, ("rows",))

    assert (second.get("rows", b"a"), second.get(META, b"note")) == (b"b", b"n")
    assert (second.entries("rows"), second.bytes() > 0) == (1, True)
    second.close()


def test_tables_of_a_store_of_another_kind_are_no_hindrance(tmp_path: Path) -> None:
    Files(tmp_path, ("rows", "strays")).close()

    second = Files(tmp_path, ("rows", "times"))

    assert list(second.scan("times")) == []
    second.close()


def test_memory_knows_how_much_it_holds() -> None:
    memory = Memory(("rows",))

    memory.write({"rows": {b"a": b"1234", b"b": b"12"}})
    memory.write({"rows": {b"a": b"1", b"b": None, b"c": None}})

    assert memory.bytes() == 2
