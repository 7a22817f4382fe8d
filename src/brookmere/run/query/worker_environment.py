"""How the worker processes of Spark's tasks are started."""

from __future__ import annotations

import hashlib
import io
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from pyspark.sql import SparkSession

from brookmere.run.jvm import to_java

_PACKAGE = Path(__file__).resolve().parents[2]
_START = _PACKAGE / "worker" / "start.py"
# With a fixed time, archives of the same files are identical.
_ENTRY_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class WorkerEnv:
    """How the kernel starts a worker."""

    java_class: ClassVar[str] = "brookmere.kernel.python.workers.WorkerEnv"
    python: str
    """The interpreter; empty if each executor chooses its own."""
    start: str
    path: Sequence[str]
    archives: Sequence[str]


def worker_env(session: SparkSession) -> Any:
    """Return how to start workers: locally with this interpreter, elsewhere with a copy of the package."""
    start = _START.read_text(encoding="utf-8")
    if runs_here(session):
        # Workers find modules wherever the program does, in the same order.
        places = [str(Path(entry).resolve()) for entry in (*sys.path, str(_PACKAGE.parent))]
        env = WorkerEnv(sys.executable, start, list(dict.fromkeys(places)), [])
    else:
        env = WorkerEnv("", start, [], [_shipped(session)])
    return to_java(session._jvm, env)


def runs_here(session: SparkSession) -> bool:
    """Whether the tasks run in the JVM of this process."""
    master = session.sparkContext.master or ""
    return master == "local" or master.startswith("local[")


def _shipped(session: SparkSession) -> str:
    """Send the package to the executors; return the name of the archive."""
    data = archived()
    name = f"brookmere-worker-{hashlib.sha256(data).hexdigest()[:16]}.zip"
    context = session.sparkContext
    if not any(Path(file).name == name for file in context.listFiles):
        place = Path(tempfile.mkdtemp(prefix="brookmere-")) / name
        place.write_bytes(data)
        context.addFile(str(place))
    return name


def archived() -> bytes:
    """Return the package and its dependencies as a zip file that Python can import from."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in (_PACKAGE, _cloudpickle()):
            for file in sorted(package.rglob("*.py")):
                entry = zipfile.ZipInfo(file.relative_to(package.parent).as_posix(), _ENTRY_TIME)
                archive.writestr(entry, file.read_bytes())
    return out.getvalue()


def _cloudpickle() -> Path:
    found = find_spec("cloudpickle")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent
