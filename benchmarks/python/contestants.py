"""The contestants, and the processes that run a program for each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.failures import QueryFailedError
from benchmarks.kafka.processes import Child
from benchmarks.kafka.workloads import PARTITIONS
from benchmarks.python.workloads import GRACE_MS, WINDOW_MS, Workload
from brookmere.kernel.cache import cache_directory

PROCESSES = 2
"""For each rival: one per core. Brookmere has one JVM with two threads and a worker for each."""
MEMORY = "2g"
_RIVALS = Path(__file__).parent / "rivals"
_FIRST_PORT = 20_731


@dataclass(frozen=True, slots=True)
class Contestant:
    """Who runs the programs, with which guarantee, and what has to be installed."""

    short: str
    name: str
    requirement: str = ""
    besides: str = ""
    """What it needs to read compressed records."""


OWN = Contestant("brookmere", "Brookmere, exactly once")
QUIX = Contestant("quix", "Quix Streams 3.28, at least once", "quixstreams==3.28.1")
CONTESTANTS = (
    OWN,
    QUIX,
    Contestant("faust", "Faust 0.15, at least once", "faust-streaming==0.15.3", "cramjam"),
    Contestant("bytewax", "Bytewax 0.21, no recovery", "bytewax[kafka]==0.21.1"),
)
RIVALS = tuple(one.short for one in CONTESTANTS)


def prepare(contestant: Contestant) -> Path:
    """Return the Python that a contestant runs with; a rival gets its own environment, once."""
    if not contestant.requirement:
        return Path(sys.executable)
    home = cache_directory() / "rivals" / contestant.requirement.replace("==", "-")
    python = home / "bin" / "python"
    if not (home / "installed").exists():
        for command in (
            [sys.executable, "-m", "venv", "--clear", str(home)],
            [
                str(python),
                "-m",
                "pip",
                "install",
                "--quiet",
                contestant.requirement,
                *contestant.besides.split(),
            ],
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise QueryFailedError(f"{contestant.name} cannot be installed:\n{done.stderr}")
        (home / "installed").touch()
    return python


def launch(contestant: Contestant, workload: Workload, servers: str, directory: Path) -> list[Child]:
    """Start the processes of a contestant on a program."""
    python = prepare(contestant)
    application = f"{contestant.short}-{workload.program}-{workload.keys}"
    count = 1 if contestant is OWN else PROCESSES
    children = []
    for number in range(count):
        home = directory / f"{application}-{number}"
        home.mkdir(parents=True)
        given = {
            "program": workload.program,
            "application": application,
            "servers": servers,
            "in": workload.source,
            "out": out_topic(contestant, workload),
            "directory": str(home / "state"),
            "partitions": PARTITIONS,
            "window_ms": WINDOW_MS,
            "grace_ms": GRACE_MS,
            "memory": MEMORY,
        }
        command, environment = _command(contestant, python, json.dumps(given), number)
        children.append(Child(f"{contestant.name}, {workload.name}", command, home / "log", environment))
    return children


def out_topic(contestant: Contestant, workload: Workload) -> str:
    """Return the output topic of a contestant and a program."""
    return f"out-{contestant.short}-{workload.program}-{workload.keys}"


def _command(
    contestant: Contestant, python: Path, given: str, number: int
) -> tuple[list[str], dict[str, str]]:
    if contestant is OWN:
        return [str(python), "-m", "benchmarks.python.own", given], {}
    if contestant.short == "bytewax":
        places = ";".join(f"127.0.0.1:{_FIRST_PORT + n}" for n in range(PROCESSES))
        run = [str(python), "-m", "bytewax.run", str(_RIVALS / "bytewax_flow.py"), "-i", str(number)]
        return [*run, "-a", places], {"BENCH_SETTINGS": given, "PYTHONPATH": os.pathsep.join([])}
    file = {"quix": "quix.py", "faust": "faust_streaming.py"}[contestant.short]
    return [str(python), str(_RIVALS / file), given], {}
