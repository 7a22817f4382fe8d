"""Jars come from the cache, a repository or a directory, and only complete and verified ones are used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from brookmere.errors import JarNotFoundError
from brookmere.jars import SETS, cached, collect, resolve
from brookmere.jars.sets import Library
from tests.jars.repository import Repository

CLIENTS = SETS["kafka-clients"][0].libraries[0]


@pytest.fixture(scope="module")
def clients() -> Path:
    """The real jar, the only one of its set."""
    (jar,) = resolve("kafka-clients")
    return jar


def test_jar_is_downloaded_once_with_a_progress_line(
    clients: Path,
    cache: Path,
    repository: Repository,
    progress: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    repository.add(CLIENTS, clients)

    (fetched,) = resolve("kafka-clients")

    assert fetched == cache / CLIENTS.file
    assert fetched.read_bytes() == clients.read_bytes()
    assert progress.messages == [f"downloading kafka-clients {CLIENTS.version} (10 MB)..."]
    assert sorted(file.name for file in cache.iterdir()) == ["fetch.lock", CLIENTS.file]

    monkeypatch.setenv("JAVA_HOME", str(cache / "no-java"))
    monkeypatch.setenv("PATH", "")
    assert resolve("kafka-clients") == (fetched,) == cached("kafka-clients")


def test_truncated_jar_is_not_used(clients: Path, cache: Path, repository: Repository) -> None:
    repository.add(CLIENTS, clients)
    cache.mkdir(parents=True)
    (cache / CLIENTS.file).write_bytes(clients.read_bytes()[:1000])
    assert cached("kafka-clients") is None

    (fetched,) = resolve("kafka-clients")

    assert fetched.read_bytes() == clients.read_bytes()


def test_files_of_a_killed_process_are_removed(clients: Path, cache: Path, repository: Repository) -> None:
    repository.add(CLIENTS, clients)
    (cache / ".fetching-old").mkdir(parents=True)
    (cache / ".fetching-old" / CLIENTS.file).write_bytes(b"half")

    resolve("kafka-clients")

    assert not (cache / ".fetching-old").exists()


def test_repository_with_another_jar_is_refused(cache: Path, repository: Repository) -> None:
    repository.add(CLIENTS, b"not that jar")

    with pytest.raises(JarNotFoundError) as failure:
        resolve("kafka-clients")

    assert f"The {CLIENTS.file} of the repository has a wrong checksum." in str(failure.value)
    assert [file.name for file in cache.iterdir()] == ["fetch.lock"]


def test_repository_without_the_jar_names_it(cache: Path, repository: Repository) -> None:
    with pytest.raises(JarNotFoundError, match=f"does not have {CLIENTS.coordinates}"):
        resolve("kafka-clients")


def test_two_processes_fetch_once(clients: Path, cache: Path, repository: Repository) -> None:
    repository.add(CLIENTS, clients)
    program = (
        "import logging; logging.basicConfig(level=logging.INFO, format='%(message)s')\n"
        "from brookmere.jars import resolve\n"
        "print(*resolve('kafka-clients'))"
    )
    both = [
        subprocess.Popen(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        for _ in range(2)
    ]

    outputs = [process.communicate(timeout=120)[0] for process in both]

    assert [process.returncode for process in both] == [0, 0], outputs
    assert all(output.splitlines()[-1] == str(cache / CLIENTS.file) for output in outputs)
    assert "".join(outputs).count("downloading kafka") == 1


def test_newest_known_connector_is_used_if_the_exact_one_is_missing(
    cache: Path, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as elsewhere:
        elsewhere.delenv("BROOKMERE_CACHE")
        elsewhere.delenv("BROOKMERE_IVY_SETTINGS")
        there = {jar.name: jar for jar in resolve("spark-kafka")}
    fallback = SETS["spark-kafka"][1].libraries
    if fallback[0].file not in there:
        pytest.skip("the exact connector is published by now")
    for library in fallback:
        repository.add(library, there[library.file])

    found = resolve("spark-kafka")

    assert [jar.name for jar in found] == [library.file for library in fallback]


def test_connector_of_an_unknown_version_is_trusted_as_it_was_fetched(
    cache: Path, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    future = Library("org.apache.spark", "spark-sql-kafka-0-10_2.13", "99.0")
    monkeypatch.setitem(SETS, "spark-kafka", (type(SETS["kafka-clients"][0])((future,)),))
    repository.add(future, b"a jar of the future")

    (jar,) = resolve("spark-kafka")
    assert cached("spark-kafka") == (jar,)

    jar.write_bytes(b"something else")
    assert cached("spark-kafka") is None


@pytest.mark.usefixtures("without_java", "cache")
def test_directory_of_the_user_is_used_without_downloads(clients: Path, tmp_path: Path) -> None:
    directory = tmp_path / "jars"
    directory.mkdir()
    (directory / clients.name).write_bytes(clients.read_bytes())

    assert resolve("kafka-clients", directory) == (directory / clients.name,)


@pytest.mark.usefixtures("without_java", "cache")
def test_wrong_and_missing_jars_of_a_directory_are_listed(tmp_path: Path) -> None:
    directory = tmp_path / "jars"
    directory.mkdir()
    (directory / "kafka-clients-4.3.1.jar").write_bytes(b"changed")

    with pytest.raises(JarNotFoundError) as failure:
        resolve("kafka-broker", directory)

    what, found, remedy = str(failure.value).splitlines()
    assert what == f"The directory {directory} does not have the Java libraries of 'kafka-broker'."
    assert "kafka-clients-4.3.1.jar is not the one with SHA-256 5250" in found
    assert "re2j-1.8.jar (com.google.re2j:re2j:1.8) is missing" in found
    assert "brookmere kafka jars --to DIR kafka-broker" in remedy


def test_collected_jars_serve_a_machine_without_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = collect(["kafka-clients", "kafka-broker"], tmp_path / "jars")

    assert all(jar.parent == tmp_path / "jars" for jar in made)
    assert not any(jar.name.startswith("slf4j") for jar in made)

    monkeypatch.setenv("BROOKMERE_CACHE", str(tmp_path / "empty"))
    own = [jar for jar in resolve("kafka-broker", tmp_path / "jars") if jar.parent == tmp_path / "jars"]
    assert len(own) == len(SETS["kafka-broker"][0].libraries)
    assert resolve("kafka-clients", tmp_path / "jars")
    assert not (tmp_path / "empty").exists()
