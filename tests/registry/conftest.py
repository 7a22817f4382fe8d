"""What the tests of the registry share: a server in a thread of the test's process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from brookmere.registry import RegistryClient
from brookmere.registry.server.server import RegistryServer


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RegistryServer]:
    with RegistryServer(tmp_path / "registry", port=0) as running:
        yield running


@pytest.fixture
def client(server: RegistryServer) -> RegistryClient:
    return RegistryClient(server.url)
