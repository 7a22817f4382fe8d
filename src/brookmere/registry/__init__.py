"""Keeps schemas: a client of a schema registry, and a small registry of its own."""

from __future__ import annotations

from brookmere.registry.client.client import RegistryClient
from brookmere.registry.schemas.schema import Latest, Reference, Schema

__all__ = ["Latest", "Reference", "RegistryClient", "Schema"]
