"""Measures queries: of replicas, of a server, and alongside an application."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import brookmere as bm
from benchmarks.failures import QueryFailedError, WrongResultError
from benchmarks.kafka.processes import Child
from benchmarks.queries.data import (
    CHANGELOG,
    COUNTS,
    PARTITIONS,
    SOURCE,
    append_views,
    fill_changelog,
)
from benchmarks.queries.report import Load, Reads, Report, Requests
from brookmere.state import KeyValueStore, Replica

Tell = Callable[[str], None]

_CONNECTIONS = 16
_PATIENCE = 600.0
_LOOK = 0.005
APPLICATION_SIDE, SERVER_SIDE = 0, 1


def run(options: Namespace, tell: Tell) -> Report:
    """Measure in a temporary directory, and remove it.

    Raises:
        WrongResultError: an answer was wrong.
        QueryFailedError: a process failed.
    """
    directory = Path(tempfile.mkdtemp(prefix="brookmere-bench-"))
    try:
        return _Bench(directory, options, tell).report()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


class _Bench:
    def __init__(self, directory: Path, options: Namespace, tell: Tell) -> None:
        self._directory = directory
        self._topics = directory / "topics"
        self._keys: int = options.query_keys
        self._counted: int = min(100_000, options.query_keys)
        self._records: int = 2 * options.records
        self._rounds: int = options.rounds
        self._seconds = 2.0 if options.quick else 8.0
        self._reads = 20_000 if options.quick else 500_000
        self._quick = options.quick
        self._tell = tell
        self._processed = 0

    def report(self) -> Report:
        """Measure everything."""
        self._tell(f"queries  filling {self._keys:,} keys")
        fill_changelog(self._topics, self._keys)
        reads = [self._in_python(backend) for backend in ("RocksDB", "memory")]
        requests = self._over_http()
        loads, beside = self._beside_application()
        return Report(
            settings={
                "keys": f"{self._keys:,}; counted {self._counted:,}",
                "connections": f"{_CONNECTIONS}, each with one request in flight",
                "records per load": f"{self._records:,}",
                "cores": "server and clients on different ones; alongside the application they share one",
            },
            reads=reads,
            requests=[*requests, *beside],
            loads=loads,
            is_trial=self._quick,
        )

    def _in_python(self, backend: str) -> Reads:
        place = "memory" if backend == "memory" else str(self._directory / "replica")
        arguments = [str(self._topics), place, self._keys, self._reads, 2 * self._rounds]
        found = _output("benchmarks.queries.reader", *arguments)
        if found["wrong"]:
            raise WrongResultError(f"{found['wrong']} of 1,000 reads from {backend} were wrong")
        reads = Reads(backend, self._keys, self._reads, found["filled_seconds"], found["rounds"])
        self._tell(f"queries  {backend}: {reads.per_second:,.0f} reads/s, {reads.cpu_us:.2f} CPU us/read")
        return reads

    def _over_http(self) -> list[Requests]:
        """Query the server, which has its own core."""
        port = _free_port()
        with self._server(CHANGELOG, "replica", port, SERVER_SIDE) as server:
            self._client(CHANGELOG, port, self._keys, APPLICATION_SIDE, 1.0)
            found = [
                self._request("alone", CHANGELOG, port, self._keys, APPLICATION_SIDE)
                for _ in range(self._rounds)
            ]
            server.stop()
        return found

    def _beside_application(self) -> tuple[list[Load], list[Requests]]:
        """Let an application count on one core, with a replica and its clients on the other, or without."""
        bm.Topics(self._topics).create(SOURCE, PARTITIONS)
        append_views(self._topics, self._records, self._counted, seed=0)
        state = str(self._directory / "state")
        arguments = [str(self._topics), state, str(APPLICATION_SIDE)]
        command = [sys.executable, "-m", "benchmarks.queries.counting", *arguments]
        loads: list[Load] = []
        requests: list[Requests] = []
        port = _free_port()
        with Child("the application", command, self._directory / "application.log") as application:
            _until(lambda: application.is_running, application)
            self._processed = self._records
            _until(lambda: application.processed >= self._processed, application)
            # The code is compiled after a second load.
            self._load(application, seed=1)
            with self._server(COUNTS.name, "counts", port, SERVER_SIDE) as server:
                for number in range(2 * self._rounds):
                    server.hold()
                    loads.append(Load(False, self._records, self._load(application, 2 * number + 2)))
                    server.release()
                    loads.append(self._queried(application, port, 2 * number + 3, requests))
                    self._tell(
                        f"queries  round {number + 1}  {loads[-2].per_second:,.0f} records/s without, "
                        f"{loads[-1].per_second:,.0f} with {requests[-1].per_second:,.0f} reads/s"
                    )
                server.stop()
            application.stop()
        self._check_counts()
        return loads, requests

    def _queried(self, application: Child, port: int, seed: int, requests: list[Requests]) -> Load:
        # The clients run for longer than the load takes, and are stopped with it.
        command = _client_command(COUNTS.name, port, self._counted, SERVER_SIDE, _PATIENCE)
        self._client(COUNTS.name, port, self._counted, SERVER_SIDE, 1.0)
        with subprocess.Popen([*command], stdout=subprocess.PIPE, text=True) as client:
            assert client.stdout is not None
            client.stdout.readline()
            try:
                seconds = self._load(application, seed)
            finally:
                client.terminate()
            output, _ = client.communicate()
        requests.append(_requests("counting", json.loads(output)))
        return Load(True, self._records, seconds)

    def _load(self, application: Child, seed: int) -> float:
        """Return how long the application takes for the next records."""
        append_views(self._topics, self._records, self._counted, seed)
        begun = time.time()
        self._processed += self._records
        _until(lambda: application.processed >= self._processed, application)
        return application.processed_at - begun

    def _check_counts(self) -> None:
        with Replica("bench", [COUNTS], bm.Topics(self._topics), in_memory=True) as replica:
            store = replica[COUNTS.name].wait(timedelta(seconds=_PATIENCE))
            assert isinstance(store, KeyValueStore)
            total = sum(value for _, value in store.all())
        if total != self._processed:
            raise WrongResultError(f"{self._processed:,} records were counted as {total:,}")

    def _server(self, store: str, directory: str, port: int, side: int) -> Child:
        arguments = [str(self._topics), str(self._directory / directory), str(port), store, str(side)]
        command = [sys.executable, "-m", "benchmarks.queries.server", *arguments]
        server = Child("the server", command, self._directory / "server.log")
        try:
            _until(lambda: server.is_running, server)
        except BaseException:
            server.kill()
            raise
        return server

    def _request(self, what: str, store: str, port: int, keys: int, side: int) -> Requests:
        found = _requests(what, self._client(store, port, keys, side, self._seconds))
        self._tell(f"queries  HTTP: {found.per_second:,.0f} reads/s, p99 {found.p99 * 1000:.1f} ms")
        return found

    def _client(self, store: str, port: int, keys: int, side: int, seconds: float) -> dict[str, Any]:
        return _run(_client_command(store, port, keys, side, seconds))


def _client_command(store: str, port: int, keys: int, side: int, seconds: float) -> list[str]:
    arguments = [str(value) for value in (port, store, keys, _CONNECTIONS, seconds, side)]
    return [sys.executable, "-m", "benchmarks.queries.client", *arguments]


def _requests(what: str, found: dict[str, Any]) -> Requests:
    if found["failed"]:
        raise WrongResultError(f"{found['failed']} of {found['reads']} requests failed")
    return Requests(what, found["reads"], found["seconds"], found["p50"], found["p99"], found["most"])


def _output(module: str, *arguments: object) -> dict[str, Any]:
    return _run([sys.executable, "-m", module, *map(str, arguments)])


def _run(command: list[str]) -> dict[str, Any]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE, check=False)
    if done.returncode != 0:
        raise QueryFailedError(
            f"{' '.join(command[1:4])} ended with {done.returncode}:\n{done.stderr[-3000:]}"
        )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _until(condition: Callable[[], bool], child: Child) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not condition():
        child.check()
        if time.monotonic() > deadline:
            raise QueryFailedError(f"{child.name} took too long")
        time.sleep(_LOOK)


def _free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])
