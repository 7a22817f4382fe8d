"""Schema registries: a client, and a small registry for development and tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brookmere.registry.client.client import RegistryClient
from brookmere.registry.schemas.schema import Latest, Reference, Schema

if TYPE_CHECKING:
    from brookmere.registry.server.server import RegistryServer

__all__ = ["Latest", "Reference", "RegistryClient", "RegistryServer", "Schema"]


def __getattr__(name: str) -> object:
    if name != "RegistryServer":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Programs with a registry elsewhere need no HTTP server.
    from brookmere.registry.server.server import RegistryServer

    return RegistryServer
