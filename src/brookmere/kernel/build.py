"""Compile the kernel's Scala sources to a jar, with the compiler among PySpark's jars."""

from __future__ import annotations

import argparse
import io
import logging
import os
import shutil
import sys
import tempfile
import time
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from brookmere.errors import EngineError, KernelBuildError
from brookmere.kernel.cache import cache_directory, locked, write_atomically
from brookmere.kernel.java import java_command, run_to_end

logger = logging.getLogger(__name__)

# Not -release: it needs a file that only a full JDK has.
COMPILER_FLAGS = ("-nowarn", "-encoding", "UTF-8", "-target:17")
# The compiler runs once and briefly, so it needs only the C1 compiler; deep expressions need the stack.
_JVM_FLAGS = ("-Xss8m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")

_HASH_ENTRY = "META-INF/brookmere-kernel.sha256"
# Jars of the same sources are identical, whenever and wherever they are built.
_ENTRY_TIME = (1980, 1, 1, 0, 0, 0)


# Spark finds a source by its short name through this file, whatever package the class is in.
_SOURCES_ENTRY = "META-INF/services/org.apache.spark.sql.sources.DataSourceRegister"
_SOURCES = ("brookmere.kernel.transport.TopicsSource", "brookmere.kernel.kafka.KafkaSource")

_KAFKA = "kafka"
"""The folder of the sources that need Kafka's clients; they are compiled to a separate jar."""


@dataclass(frozen=True, slots=True)
class KernelBuild:
    """The sources, the possible locations of their jar, and the libraries they need in addition to Spark."""

    sources: Path = field(default_factory=lambda: Path(__file__).resolve().parent)
    cache: Path = field(default_factory=cache_directory)
    name: str = "kernel"
    libraries: tuple[Path, ...] = ()
    made_for: str = ""
    """Identifies the content of the libraries."""

    @property
    def carried_jar(self) -> Path:
        """The jar that a wheel contains."""
        return self.sources / f"brookmere-{self.name}.jar"

    def jar(self) -> Path:
        """Return a jar of exactly these sources, compiling them if there is none yet."""
        content_hash = self.content_hash()
        target = self._place(content_hash)
        if target.exists():
            return target
        with locked(target.parent / "build.lock", logger, "is compiling the kernel"):
            # Another process may have built it meanwhile.
            if not target.exists():
                write_atomically(target, self._compile(content_hash))
        return target

    def compiled_jar(self) -> Path | None:
        """Return the jar of exactly these sources if it exists."""
        place = self._place(self.content_hash())
        return place if place.exists() else None

    def content_hash(self) -> str:
        """Hash everything that determines the compiled classes."""
        digest = sha256()
        for part in (
            *COMPILER_FLAGS,
            *_SOURCES,
            version("pyspark"),
            *([self.made_for] if self.made_for else []),
        ):
            digest.update(part.encode() + b"\0")
        for source in self._source_files():
            digest.update(source.relative_to(self.sources).as_posix().encode() + b"\0")
            digest.update(sha256(source.read_bytes()).digest())
        return digest.hexdigest()

    def _place(self, content_hash: str) -> Path:
        if _recorded_hash(self.carried_jar) == content_hash:
            return self.carried_jar
        return self.cache / "kernel" / f"brookmere-{self.name}-{content_hash[:24]}.jar"

    def _source_files(self) -> list[Path]:
        found = (file.relative_to(self.sources).parts for file in self.sources.rglob("*.scala"))
        files = [self.sources.joinpath(*parts) for parts in sorted(found) if parts[0] != _KAFKA]
        if not files:
            raise KernelBuildError(
                f"There are no kernel sources in {self.sources}.\n"
                "Reinstall brookmere: its installation is incomplete."
            )
        return files

    @property
    def _words(self) -> str:
        return "kernel" if self.name == "kernel" else f"kernel's part for {self.name.capitalize()}"

    def _compile(self, content_hash: str) -> bytes:
        files = self._source_files()
        jars = spark_jars()
        command = [
            str(java_command()),
            *_JVM_FLAGS,
            "-cp",
            f"{jars}/*",
            "scala.tools.nsc.Main",
            *("-classpath", os.pathsep.join([f"{jars}/*", *map(str, self.libraries)])),
            *COMPILER_FLAGS,
        ]
        logger.info("compiling the %s (%d Scala files); this happens once", self._words, len(files))
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="brookmere-kernel-") as classes:
            outcome = run_to_end([*command, "-d", classes, *map(str, files)])
            if outcome.returncode != 0:
                raise KernelBuildError(
                    f"The {self._words} does not compile: scalac exited with {outcome.returncode}.\n"
                    f"{outcome.stdout.strip()}\n"
                    f"Sources: {self.sources}, pyspark {version('pyspark')}, {command[0]}. "
                    "If the sources are unchanged, reinstall brookmere with the pyspark it requires."
                )
            jar = _jar(Path(classes), content_hash)
        logger.info("compiled the %s in %.1f s", self._words, time.monotonic() - started)
        return jar


def kernel_jar() -> Path:
    """Return the compiled kernel: the jar of the wheel, else the cached one, else a newly compiled one."""
    return KernelBuild().jar()


def kafka_jar(clients: Sequence[Path]) -> Path:
    """Return the compiled part of the kernel that uses Kafka, through the jars `clients`."""
    return kafka_build(clients).jar()


def kafka_build(clients: Sequence[Path], kernel: KernelBuild | None = None) -> KernelBuild:
    """Return the build of the part for Kafka, against a kernel and the clients."""
    base = kernel or KernelBuild()
    return KernelBuild(
        sources=base.sources / _KAFKA,
        cache=base.cache,
        name=_KAFKA,
        libraries=(base.jar(), *clients),
        made_for=" ".join([base.content_hash(), *(jar.name for jar in clients)]),
    )


def spark_jars() -> Path:
    """Return the directory of PySpark's jars, without importing PySpark."""
    spec = find_spec("pyspark")
    jars = Path(spec.origin).parent / "jars" if spec is not None and spec.origin is not None else None
    if jars is None or not any(jars.glob("scala-compiler-*.jar")):
        raise KernelBuildError(
            "The kernel cannot be compiled: there is no Scala compiler among PySpark's jars.\n"
            f"Found: {jars if jars is not None else 'pyspark is not installed'}.\n"
            "Install PySpark with pip: pip install 'pyspark>=4.3,<4.4' (pyspark-client has no jars)."
        )
    return jars


def _jar(classes: Path, content_hash: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:

        def add(name: str, content: bytes) -> None:
            entry = zipfile.ZipInfo(name, date_time=_ENTRY_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)

        add("META-INF/MANIFEST.MF", b"Manifest-Version: 1.0\r\n\r\n")
        add(_HASH_ENTRY, content_hash.encode())
        sources = [name for name in _SOURCES if (classes / f"{name.replace('.', '/')}.class").exists()]
        if sources:
            add(_SOURCES_ENTRY, "".join(f"{name}\n" for name in sources).encode())
        for file in sorted(classes.rglob("*")):
            if file.is_file():
                add(file.relative_to(classes).as_posix(), file.read_bytes())
    return buffer.getvalue()


def _recorded_hash(jar: Path) -> str | None:
    if not jar.exists():
        return None
    try:
        with zipfile.ZipFile(jar) as archive:
            return archive.read(_HASH_ENTRY).decode()
    except (zipfile.BadZipFile, KeyError) as failure:
        logger.warning("ignoring %s, which is not a kernel jar: %s", jar, failure)
        return None


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the kernel and print its path."""
    parser = argparse.ArgumentParser(prog="python -m brookmere.kernel.build", description=main.__doc__)
    parser.add_argument("--output", type=Path, metavar="PATH", help="copy the jar to PATH as well")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        jar = kernel_jar()
    except EngineError as failure:
        sys.stderr.write(f"{failure}\n")
        return 1
    if options.output is not None and options.output.resolve() != jar:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        jar = Path(shutil.copyfile(jar, options.output))
    sys.stdout.write(f"{jar}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
