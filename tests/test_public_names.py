"""Public is what the package root and the testing package list: a new name is a visible difference."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

PUBLIC_MODULES = ("brookmere", "brookmere.testing")
LIST = Path(__file__).parent / "public_names.txt"


def test_public_names_are_the_listed_ones(expect_text: Callable[[Path, str], None]) -> None:
    names = [
        f"{module}.{name}" for module in PUBLIC_MODULES for name in sorted(import_module(module).__all__)
    ]

    expect_text(LIST, "".join(f"{name}\n" for name in names))


@pytest.mark.parametrize("name", LIST.read_text().splitlines())
def test_public_name_exists(name: str) -> None:
    module, _, attribute = name.rpartition(".")

    assert hasattr(import_module(module), attribute)


@pytest.mark.parametrize("heavy", ["pyspark", "py4j", "rocksdict", "fastapi", "confluent_kafka"])
def test_importing_the_package_does_not_import_what_takes_long(heavy: str) -> None:
    program = f"import sys, brookmere; sys.exit({heavy!r} in sys.modules)"

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
