"""Scala sources become one jar, compiled once per content."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from brookmere.errors import EngineError, KernelBuildError
from brookmere.kernel.build import KernelBuild

TWICE = "package tiny\n\nobject Twice { def of(number: Int): Int = 2 * number }\n"

# Builds the sources in a separate process, which prints the jar and the log.
BUILD = """
import logging, sys
from pathlib import Path
from brookmere.kernel.build import KernelBuild

logging.basicConfig(level=logging.INFO, format="%(message)s")
print(KernelBuild(sources=Path(sys.argv[1]), cache=Path(sys.argv[2])).jar())
"""


def build_of(folder: Path, source: str = TWICE) -> KernelBuild:
    sources = folder / "sources"
    (sources / "inner").mkdir(parents=True)
    (sources / "inner" / "Twice.scala").write_text(source)
    return KernelBuild(sources=sources, cache=folder / "cache")


def start(build: KernelBuild, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", BUILD, str(build.sources), str(build.cache)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
        start_new_session=True,
    )


def fake_jar(path: Path, content_hash: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("META-INF/brookmere-kernel.sha256", content_hash)


def cached_jar(build: KernelBuild) -> Path:
    return build.cache / "kernel" / f"brookmere-kernel-{build.content_hash()[:24]}.jar"


def test_processes_that_start_together_compile_once(tmp_path: Path) -> None:
    build = build_of(tmp_path)

    first, second = start(build), start(build)
    (first_path, first_log), (second_path, second_log) = first.communicate(), second.communicate()

    assert (first.returncode, second.returncode) == (0, 0), first_log + second_log
    assert first_path == second_path
    assert (first_log + second_log).count("compiling the kernel (") == 1
    with zipfile.ZipFile(first_path.strip()) as jar:
        assert {"META-INF/MANIFEST.MF", "tiny/Twice.class", "tiny/Twice$.class"} <= set(jar.namelist())
        # Bytes 6 and 7 hold the class file version: 61 is what Java 17 reads.
        assert int.from_bytes(jar.read("tiny/Twice.class")[6:8]) == 61


def test_second_process_waits_for_the_first_and_takes_its_jar(tmp_path: Path) -> None:
    build = build_of(tmp_path)
    target = cached_jar(build)
    target.parent.mkdir(parents=True)

    with (target.parent / "build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = start(build)
        assert waiting.stderr is not None
        assert "waiting for another process" in waiting.stderr.readline()
        fake_jar(target, build.content_hash())
    path, log = waiting.communicate()

    assert path.strip() == str(target)
    assert "compiling" not in log


def test_lock_of_a_killed_process_is_released(tmp_path: Path) -> None:
    build = build_of(tmp_path)
    home = tmp_path / "slow-java"
    (home / "bin").mkdir(parents=True)
    slow = home / "bin" / "java"
    slow.write_text(
        "#!/bin/sh\n"
        'case "$*" in *--list-modules*)\n'
        f"  echo 'java.home = {home}' >&2; echo 'java.specification.version = 17' >&2\n"
        "  echo jdk.incubator.vector@17; exit 0 ;;\n"
        "esac\n"
        "exec sleep 600\n"
    )
    slow.chmod(0o755)
    killed = start(build, JAVA_HOME=str(home))
    assert killed.stderr is not None
    assert "compiling the kernel" in killed.stderr.readline()

    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()

    assert build.jar().exists()


def test_compile_failure_shows_the_compilers_output_and_leaves_nothing_behind(tmp_path: Path) -> None:
    build = build_of(tmp_path, "object Broken { val number: Int = missing }\n")

    with pytest.raises(KernelBuildError) as failure:
        build.jar()

    assert "not found: value missing" in str(failure.value)
    assert "Twice.scala:1" in str(failure.value)
    assert [file.name for file in (build.cache / "kernel").iterdir()] == ["build.lock"]


def test_cached_jar_is_used_without_compiling(tmp_path: Path) -> None:
    build = build_of(tmp_path)
    fake_jar(cached_jar(build), build.content_hash())

    assert build.jar() == cached_jar(build)


def test_packaged_jar_is_used_if_it_was_built_from_these_sources(tmp_path: Path) -> None:
    build = build_of(tmp_path)
    fake_jar(build.carried_jar, build.content_hash())

    assert build.jar() == build.carried_jar
    assert not build.cache.exists()


@pytest.mark.parametrize("content", [b"not a jar", b""])
def test_packaged_file_that_is_not_a_jar_is_ignored(tmp_path: Path, content: bytes) -> None:
    build = build_of(tmp_path)
    build.carried_jar.write_bytes(content)
    fake_jar(cached_jar(build), build.content_hash())

    assert build.jar() == cached_jar(build)


def test_packaged_jar_of_other_sources_is_ignored(tmp_path: Path) -> None:
    build = build_of(tmp_path)
    fake_jar(build.carried_jar, build.content_hash())

    (build.sources / "inner" / "Twice.scala").write_text(TWICE.replace("2", "1 + 1"))
    fake_jar(cached_jar(build), build.content_hash())

    assert build.jar() == cached_jar(build)


def test_hash_depends_on_the_sources_and_not_on_their_location(tmp_path: Path) -> None:
    here, there = build_of(tmp_path / "here"), build_of(tmp_path / "there")
    original = here.content_hash()

    assert there.content_hash() == original

    source = here.sources / "inner" / "Twice.scala"
    source.write_text(TWICE + "// changed\n")
    changed = here.content_hash()
    source.rename(here.sources / "Twice.scala")
    moved = here.content_hash()

    assert len({original, changed, moved}) == 3


def test_sources_that_are_missing_are_reported(tmp_path: Path) -> None:
    with pytest.raises(KernelBuildError, match="no kernel sources"):
        KernelBuild(sources=tmp_path, cache=tmp_path).jar()


def test_cache_that_cannot_be_created_is_reported_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the directory should be")

    with pytest.raises(EngineError, match="Set BROOKMERE_CACHE"):
        build_of(tmp_path).jar()
