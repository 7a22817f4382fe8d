"""Code of the user travels with all it uses; what cannot travel is refused with the reason."""

from __future__ import annotations

import functools
import importlib
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from brookmere.run.compile.python.serialized_code import Unpicklable, dumps

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


@functools.lru_cache(maxsize=100)
def _fibonacci(number: int) -> int:
    return number if number < 2 else _fibonacci(number - 1) + _fibonacci(number - 2)


class _Offsets:
    @functools.cached_property
    def first(self) -> int:
        return _OFFSET

    @functools.cache  # noqa: B019 - what is sent has a cache of its own
    def next(self, value: int) -> int:
        return self.first + value


def _cached(value: int) -> int:
    return _fibonacci(50) + _Offsets().next(value) + _fibonacci.cache_parameters()["maxsize"]


def test_functions_with_a_cache_travel_without_what_is_in_it(tmp_path: Path) -> None:
    file = tmp_path / "code"
    file.write_bytes(dumps((_cached, _fibonacci)))

    load = (
        f"import pickle, pathlib; cached, own = pickle.loads(pathlib.Path({str(file)!r}).read_bytes());"
        "print(own.cache_info().currsize, own.__name__, cached(1), own.cache_info().currsize)"
    )
    found = subprocess.run(
        [sys.executable, "-P", "-c", load], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert found.stdout == f"0 _fibonacci {12586269025 + 8 + 100} 51\n"


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


def test_an_open_file_is_not_sent_as_what_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("brook\n")

    with (tmp_path / "words").open() as words, pytest.raises(Unpicklable, match=r"open file '.*words'"):
        dumps(lambda value: words.readline())
