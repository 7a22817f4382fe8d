"""One thread of one process at a time."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from brookmere.topics.log.lock import locked, locked_if_free
from tests.topics.conftest import Start


def test_threads_exclude_each_other(tmp_path: Path) -> None:
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        for _ in range(50):
            with locked(tmp_path / "lock"):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(most) == 200
    assert max(most) == 1


def test_another_process_waits(tmp_path: Path, start: Start) -> None:
    program = """
        import sys
        from pathlib import Path
        from brookmere.topics.log.lock import locked, locked_if_free
        path = Path(sys.argv[1])
        with locked_if_free(path) as held:
            print("free" if held else "taken", flush=True)
        with locked(path):
            print("mine", flush=True)
    """
    with locked(tmp_path / "lock"):
        other = start(program, tmp_path / "lock")
        assert other.stdout
        said = other.stdout.readline()
        (tmp_path / "released").touch()

    assert said == "taken\n"
    assert other.stdout.readline() == "mine\n"


def test_a_lock_that_is_free_is_held(tmp_path: Path) -> None:
    with locked_if_free(tmp_path / "lock") as held, locked_if_free(tmp_path / "lock") as again:
        assert held
        assert not again
    with locked_if_free(tmp_path / "lock") as held:
        assert held


def test_a_lock_in_a_folder_that_is_gone_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), locked(tmp_path / "gone" / "lock"):
        pass
