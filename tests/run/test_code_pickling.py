"""Code of the user travels with all it uses; what cannot travel is refused with the reason."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from brookmere.run.code_pickling import Unpicklable, dumps

_OFFSET = 7


def _shifted(value: int) -> int:
    return value + _OFFSET


def test_a_function_runs_where_its_module_is_not_there(tmp_path: Path) -> None:
    file = tmp_path / "code"
    file.write_bytes(dumps(_shifted))

    load = f"import pickle, pathlib; print(pickle.loads(pathlib.Path({str(file)!r}).read_bytes())(1))"
    found = subprocess.run(
        [sys.executable, "-P", "-c", load], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert found.stdout == "8\n"


def test_installed_modules_are_imported_and_not_sent() -> None:
    assert len(dumps(pytest.raises)) < 200
    assert pickle.loads(dumps(pytest.raises)) is pytest.raises


def test_packages_in_a_directory_of_their_own_are_imported_and_not_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "packed-1.0.dist-info").mkdir()
    (tmp_path / "packed_far_away.py").write_text("def double(value):\n    return 2 * value\n")
    monkeypatch.syspath_prepend(tmp_path)
    packed = importlib.import_module("packed_far_away")

    assert pickle.loads(dumps(packed.double)) is packed.double


def test_what_cannot_be_sent_is_named() -> None:
    lock = threading.Lock()

    with pytest.raises(Unpicklable, match=r"cannot pickle '_thread\.lock' object"):
        dumps(lambda value: lock.locked())
