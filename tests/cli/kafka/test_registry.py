"""`brookmere registry` starts, shows and stops a registry in a separate process."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from brookmere.registry import RegistryClient
from brookmere.registry.server.daemon import default_registry_directory, running
from tests.cli.conftest import Run


@pytest.fixture
def registry(run: Run) -> Iterator[Run]:
    yield run
    found = running(default_registry_directory())
    if found is not None:
        os.kill(found.pid, signal.SIGKILL)


def address(text: str) -> str:
    return re.findall(r"http://127\.0\.0\.1:\d+", text)[0]


def test_registry_is_started_shown_and_stopped(registry: Run) -> None:
    started = registry("registry", "up", "--port", "0")
    assert started.exit_code == 0, started.output
    client = RegistryClient(address(started.output))
    client.register("orders-value", '"string"')

    again = registry("registry", "up")
    shown = registry("registry", "status")
    as_json = json.loads(registry("registry", "status", "--json").stdout)
    stopped = registry("registry", "down")

    assert started.stdout == again.stdout == f"schema.registry.url={client.url}\n"
    assert "is already running" in again.stderr
    assert re.search(r"orders-value +AVRO +1 +1 +BACKWARD", shown.stdout)
    assert as_json["url"] == client.url
    assert as_json["subjects"] == {"orders-value": {"version": 1, "id": 1, "type": "AVRO"}}
    assert "has stopped" in stopped.output
    assert "`brookmere registry up` starts one" in registry("registry", "status").stderr
    assert json.loads(registry("registry", "status", "--json").stdout)["running"] is False
    assert registry("registry", "down").exit_code == 0


def test_schemas_survive_a_restart(registry: Run, tmp_path: Path) -> None:
    started = registry("registry", "up", "--port", "0")
    RegistryClient(address(started.output)).register("orders-value", '"string"')
    os.kill(running(default_registry_directory()).pid, signal.SIGKILL)  # type: ignore[union-attr]
    deadline = time.monotonic() + 30
    while running(default_registry_directory()) is not None and time.monotonic() < deadline:
        time.sleep(0.02)

    again = registry("registry", "up", "--port", "0")

    assert RegistryClient(address(again.output)).subjects() == ["orders-value"]


def test_port_in_use_is_reported(registry: Run, tmp_path: Path) -> None:
    started = registry("registry", "up", "--port", "0")
    port = address(started.output).rpartition(":")[2]

    refused = registry("registry", "up", "--port", port, "--dir", str(tmp_path / "other"))

    assert refused.exit_code == 1
    assert f"cannot listen on port {port}" in refused.output
    assert "--port" in refused.output


def test_foreground_registry_serves_until_stopped(folder: Path) -> None:
    command = [sys.executable, "-m", "brookmere", "registry", "up", "--foreground", "--port", "0"]
    process = subprocess.Popen([*command, "--dir", str(folder)], stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while (found := running(folder)) is None:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert found.pid == process.pid
        assert RegistryClient(found.url).subjects() == []

        process.send_signal(signal.SIGTERM)

        assert process.wait(30) == 0
        assert running(folder) is None
    finally:
        process.kill()
        process.wait()
