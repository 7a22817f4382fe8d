"""Registries inside this process, by name, for tests and experiments."""

from __future__ import annotations

import json
import threading
from typing import Any

from brookmere.registry.server.catalog import Catalog
from brookmere.registry.server.rest import answer

_registries: dict[str, MockRegistry] = {}
_guard = threading.Lock()


class MockRegistry:
    """The same registry as the server's, without a network and without a directory."""

    def __init__(self) -> None:
        self.catalog = Catalog()

    def send(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Return the status and the JSON of the answer."""
        data = b"" if body is None else json.dumps(body).encode()
        return answer(self.catalog, method, path, data)


def mock_registry(name: str) -> MockRegistry:
    """Return the registry of this name, created on first use."""
    with _guard:
        return _registries.setdefault(name, MockRegistry())


def forget_mock_registry(name: str) -> None:
    """Forget the registry of this name; the next use creates an empty one."""
    with _guard:
        _registries.pop(name, None)
