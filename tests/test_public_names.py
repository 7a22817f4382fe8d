"""Public is what the package root and its namespaces list: a new name is a visible difference."""

from __future__ import annotations

import builtins
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module, metadata
from pathlib import Path

import pytest

import brookmere

NAMESPACES = (
    "broker",
    "dsl",
    "errors",
    "plan",
    "processors",
    "queries",
    "registry",
    "run",
    "serdes",
    "serve",
    "testing",
    "topics",
)
PUBLIC_MODULES = ("brookmere", *(f"brookmere.{name}" for name in NAMESPACES))
ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).parent / "public_names.txt"


def test_public_names_are_the_listed_ones(expect_text: Callable[[Path, str], None]) -> None:
    names = [
        f"{module}.{name}" for module in PUBLIC_MODULES for name in sorted(import_module(module).__all__)
    ]

    expect_text(LIST, "".join(f"{name}\n" for name in names))


def test_star_import_shadows_no_builtin() -> None:
    assert not set(brookmere.__all__) & set(dir(builtins))


def test_dir_shows_every_public_name_of_the_root() -> None:
    assert set(brookmere.__all__) | {"max", "min", "sum", "__version__"} == set(dir(brookmere))


def test_version_is_that_of_the_package() -> None:
    assert brookmere.__version__ == metadata.version("brookmere")


def _imports() -> Iterator[tuple[str, str]]:
    """Yield module and name of everything that the docs and the examples import from Brookmere."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    code = [block for page in pages for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.S)]
    code += [file.read_text() for file in (ROOT / "examples").rglob("*.py")]
    for text in code:
        for module, names in re.findall(r"^from (brookmere[\w.]*) import ([\w, ]+)$", text, re.M):
            yield from ((module, name.strip()) for name in names.split(","))


def test_what_docs_and_examples_import_is_public() -> None:
    found = set(_imports())
    assert ("brookmere.testing", "TopologyTestDriver") in found

    listed = LIST.read_text().splitlines()

    assert [f"{module}.{name}" for module, name in sorted(found) if f"{module}.{name}" not in listed] == []


@pytest.mark.parametrize("name", LIST.read_text().splitlines())
def test_public_name_exists(name: str) -> None:
    module, _, attribute = name.rpartition(".")

    assert hasattr(import_module(module), attribute)


@pytest.mark.parametrize("heavy", ["pyspark", "py4j", "rocksdict", "fastapi", "confluent_kafka"])
def test_importing_the_package_does_not_import_what_takes_long(heavy: str) -> None:
    program = f"import sys, brookmere; sys.exit({heavy!r} in sys.modules)"

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
