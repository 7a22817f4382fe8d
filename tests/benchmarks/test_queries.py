"""What the benchmark of queries says of its keys, answers and goals, and that its clients count right."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import brookmere as bm
from benchmarks.options import arguments
from benchmarks.queries.data import CHANGELOG, STORE, append_views, fill_changelog, key_of, value_of
from benchmarks.queries.report import Load, Reads, Report, Requests
from brookmere.state import KeyValueStore, Replica

ROOT = Path(__file__).resolve().parents[2]


def report(*, with_queries: float = 10.0, p99: float = 0.010) -> Report:
    reads = Reads("memory", 10, 1000, 1.0, [{"seconds": 0.004, "cpu": 0.003}])
    requests = [Requests("alone", 6000, 1.0, 0.001, p99, 0.1)]
    loads = [Load(False, 1000, 10.0), Load(True, 1000, with_queries)]
    return Report({}, [reads], requests, loads, is_trial=False)


def test_the_changelog_has_every_key(tmp_path: Path) -> None:
    fill_changelog(tmp_path, 1000)

    with Replica("bench", [STORE], bm.Topics(tmp_path), in_memory=True) as replica:
        store = replica[CHANGELOG].wait()
        assert isinstance(store, KeyValueStore)
        assert dict(store.all()) == {key_of(number): value_of(number) for number in range(1000)}


def test_views_have_the_keys_that_are_counted(tmp_path: Path) -> None:
    topic = bm.Topics(tmp_path).create("views", 2)

    append_views(tmp_path, 500, 10, seed=1)

    records = [record for partition in range(2) for record in topic.read(partition)]
    assert len(records) == 500
    assert {record.key for record in records} == {key_of(number).encode() for number in range(10)}


def test_goals_are_met_or_missed() -> None:
    met, missed = report().goals(), report(with_queries=12.0, p99=0.030).goals()

    assert [goal.is_met for goal in met] == [True, True, True, True]
    assert [goal.is_met for goal in missed] == [True, True, False, False]
    assert "0.83" in report(with_queries=12.0).tables()[3].text()


class Answers(BaseHTTPRequestHandler):
    """Answers like a server of stores, and refuses every key that ends in 7."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = b'{"key":"k"}'
        self.send_response(404 if self.path.endswith("7") else 200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def test_the_client_counts_answers_and_failures() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        arguments = [str(server.server_address[1]), "totals", "10", "2", "0.5", "0"]
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.queries.client", *arguments],
            cwd=ROOT, capture_output=True, text=True, check=True, timeout=60,
        )  # fmt: skip
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

    said, found = done.stdout.splitlines()
    counted = json.loads(found)
    assert said == "asking"
    assert counted["reads"] > counted["failed"] > 0
    assert 0 < counted["p50"] <= counted["p99"] <= counted["most"]


def test_queries_are_a_part_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--only", "queries"])

    options = arguments()

    assert (options.parts, options.query_keys, options.records) == (("queries",), 1_000_000, 400_000)
