"""A wheel contains the kernel's sources and its jar, and uses that jar without compiling."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from brookmere.jars import resolve
from brookmere.kernel.build import KernelBuild, kafka_jar, kernel_jar

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that `make wheel` makes, made of a copy so that nothing is left in the repository."""
    copy = tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "NOTICE", ".gitignore"):
        shutil.copy(ROOT / name, copy)
    for name in ("src", "examples"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    outcome = subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "dist"],
        cwd=copy,
        env={
            **os.environ,
            "BROOKMERE_KERNEL_JAR": str(kernel_jar()),
            "BROOKMERE_KAFKA_JAR": str(kafka_jar(resolve("kafka-clients"))),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    (made,) = (copy / "dist").iterdir()
    return made


def test_wheel_carries_jar_sources_types_and_licence(wheel: Path) -> None:
    kernel = KernelBuild().sources
    sources = {f"brookmere/kernel/{file.relative_to(kernel).as_posix()}" for file in kernel.rglob("*.scala")}

    names = set(zipfile.ZipFile(wheel).namelist())

    assert wheel.name.endswith("-py3-none-any.whl")
    assert sources
    assert sources <= names
    assert {"brookmere/kernel/brookmere-kernel.jar", "brookmere/kernel/kafka/brookmere-kafka.jar"} <= names
    assert "brookmere/py.typed" in names
    assert "brookmere/examples/word_count.py" in names
    assert {Path(name).name for name in names if "/licenses/" in name} == {"LICENSE", "NOTICE"}


def test_installed_wheel_compiles_nothing(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")

    outcome = subprocess.run(
        [sys.executable, "-c", "from brookmere.kernel.build import kernel_jar; print(kernel_jar())"],
        env={
            **os.environ,
            "PYTHONPATH": str(tmp_path / "site"),
            "BROOKMERE_CACHE": str(tmp_path / "cache"),
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    assert outcome.stdout.strip() == str(tmp_path / "site" / "brookmere" / "kernel" / "brookmere-kernel.jar")
    assert not (tmp_path / "cache").exists()


def test_build_command_prints_the_jar_it_wrote(tmp_path: Path) -> None:
    target = tmp_path / "new" / "kernel.jar"

    outcome = subprocess.run(
        [sys.executable, "-m", "brookmere.kernel.build", "--output", str(target)],
        capture_output=True,
        text=True,
        check=True,
    )

    assert outcome.stdout == f"{target}\n"
    assert target.read_bytes() == kernel_jar().read_bytes()
