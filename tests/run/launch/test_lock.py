"""One application runs on one state directory, and a crash frees it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from brookmere.errors import InstanceError, StateError
from brookmere.run.launch.lock import lock_directory

_NOBODY = 65534
HOLDER = """
import sys
from pathlib import Path
from brookmere.run.launch.lock import lock_directory
instance = lock_directory(Path(sys.argv[1]), "words")
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def other_process(directory: Path) -> Iterator[subprocess.Popen[str]]:
    """Hold the directory in another process."""
    command = [sys.executable, "-c", HOLDER, str(directory)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def test_directory_is_created_and_free_again_after_release(tmp_path: Path) -> None:
    directory = tmp_path / "state" / "words"

    for _ in range(2):
        instance = lock_directory(directory, "words")
        instance.release()
        instance.release()

    assert directory.is_dir()


def test_second_instance_in_the_same_process_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "words")
    instance = lock_directory(tmp_path / "words", "words")

    for directory in (tmp_path / "words", tmp_path / "link"):
        with pytest.raises(InstanceError) as caught:
            lock_directory(directory, "words")
        assert f"in this process (pid {os.getpid()})" in str(caught.value)

    instance.release()


def test_second_instance_in_another_process_is_refused_with_the_first_one_named(tmp_path: Path) -> None:
    with other_process(tmp_path) as process:
        for _ in range(2):
            with pytest.raises(InstanceError) as caught:
                lock_directory(tmp_path, "words")

    text = str(caught.value)
    assert f"'words' is already running on the state directory {tmp_path}" in text
    assert f"it runs in process {process.pid} on " in text
    assert "since 20" in text
    assert "Stop it first, or run this one under another application.id or with another state.dir." in text


def test_asking_twice_in_one_process_does_not_free_the_lock_for_others(tmp_path: Path) -> None:
    instance = lock_directory(tmp_path, "words")
    with pytest.raises(InstanceError):
        lock_directory(tmp_path, "words")

    other = subprocess.run(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )

    instance.release()
    assert "InstanceError" in other.stderr
    assert f"in process {os.getpid()}" in other.stderr


def test_killed_process_frees_the_directory(tmp_path: Path) -> None:
    with other_process(tmp_path) as process:
        process.kill()
        process.wait()

        lock_directory(tmp_path, "words").release()


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Be somebody else for a while where the tests run as the superuser, who may write everywhere."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(_NOBODY)
    try:
        yield
    finally:
        os.seteuid(user)


def test_directory_without_permission_is_refused_with_a_remedy(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)

    with ordinary_user(), pytest.raises(StateError, match="Permission denied"):
        lock_directory(tmp_path / "words", "words")


def test_directory_that_is_a_file_is_refused_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")

    with pytest.raises(StateError) as caught:
        lock_directory(tmp_path / "state" / "words", "words")

    assert str(caught.value) == (
        f"The application 'words' cannot write its state to {tmp_path / 'state' / 'words'}. "
        "Found: Not a directory. "
        "Set state.dir to a directory that this user can write to, or correct its permissions."
    )
