"""The doctor finds what is missing and says how to fix it."""

from __future__ import annotations

import json
import shutil
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest

from brookmere.cli.doctor import checks, doctor
from brookmere.kernel.build import KernelBuild
from tests.cli.conftest import Run, Spawn

Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that is compiled, without the time that takes."""
    monkeypatch.setattr(KernelBuild, "compiled_jar", lambda self: Path("kernel.jar"))


@pytest.mark.usefixtures("compiled")
def test_all_checks_pass_on_a_complete_machine(run: Run, folder: Path) -> None:
    shown = run("doctor")

    assert shown.exit_code == 0, shown.stdout
    assert "All checks passed." in shown.stdout
    assert f"{folder}/.brookmere (not created yet)" in shown.stdout
    assert list(folder.iterdir()) == []


@pytest.mark.usefixtures("compiled")
def test_json_has_a_finding_for_each_check(run: Run) -> None:
    findings = json.loads(run("doctor", "--json").stdout)

    names = " ".join(finding["name"] for finding in findings)
    assert names == "Python Java Spark PyArrow kernel Kafka cache home temporary files memory"
    assert all(finding["found"] for finding in findings)


def test_missing_java_is_wrong_and_has_a_remedy(spawn: Spawn, without_java: dict[str, Any]) -> None:
    shown = spawn("doctor", "--json", **without_java)

    java = next(finding for finding in json.loads(shown.stdout) if finding["name"] == "Java")
    assert shown.returncode == 1
    assert java["state"] == "wrong"
    assert "java on the PATH: none" in java["found"]
    assert "pip install 'brookmere[java]'" in java["remedy"]


def test_kernel_that_is_not_compiled_is_a_note(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROOKMERE_CACHE", str(folder / "cache"))

    finding = checks.check_kernel()

    assert (finding.state, finding.found) == ("warning", "not compiled yet")
    assert "brookmere doctor --fix" in str(finding.remedy)


def test_kafka_that_is_not_downloaded_is_a_note(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROOKMERE_CACHE", str(folder / "cache"))

    finding = checks.check_kafka()

    assert (finding.state, finding.found) == ("warning", "clients not downloaded yet")
    assert "jars.dir" in str(finding.remedy)


def test_fix_compiles_the_kernel(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With sources so small that it takes a second."""
    sources = folder / "sources"
    sources.mkdir()
    (sources / "Tiny.scala").write_text("package tiny\n\nobject Tiny\n")
    monkeypatch.setenv("BROOKMERE_CACHE", str(folder / "cache"))
    build = KernelBuild(sources, folder / "cache")
    monkeypatch.setattr(checks, "KernelBuild", lambda: build)
    monkeypatch.setattr(doctor, "kernel_jar", build.jar)

    shown = run("doctor", "--fix")

    (jar,) = (folder / "cache" / "kernel").glob("*.jar")
    assert shown.exit_code == 0
    assert f"compiled, {jar}" in shown.stdout


def test_unwritable_home_is_wrong(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A file in the way refuses everyone, root included.
    (folder / "file").touch()
    monkeypatch.setenv("BROOKMERE_HOME", str(folder / "file" / "home"))

    finding = checks.check_home()

    assert finding.state == "wrong"
    assert f"{folder}/file is not writable" in finding.found
    assert "BROOKMERE_HOME" in str(finding.remedy)


@pytest.mark.parametrize(("free", "state"), [(10**7, "wrong"), (5 * 10**8, "warning"), (10**10, "ok")])
def test_full_disk_is_reported(folder: Path, monkeypatch: pytest.MonkeyPatch, free: int, state: str) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**12, 0, free))

    assert checks.check_home().state == state


def test_little_memory_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "_free_memory", lambda: 10**9)

    finding = checks.check_memory()

    assert (finding.state, finding.found) == ("warning", "1.0 GB free")


def test_another_spark_is_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", str(folder))

    finding = checks.check_spark()

    assert finding.state == "warning"
    assert f"SPARK_HOME={folder}" in finding.found


@pytest.mark.parametrize(
    ("found", "wanted", "fits"),
    [
        ("4.3.0", ">=4.3,<4.4", True),
        ("4.4.0", ">=4.3,<4.4", False),
        ("4.2.9", ">=4.3,<4.4", False),
        ("18.1.0", ">=18", True),
        ("17.0", ">=18", False),
        ("1", "", True),
    ],
)
def test_versions_are_compared_by_their_numbers(found: str, wanted: str, fits: bool) -> None:
    assert checks._fits(found, wanted) is fits
