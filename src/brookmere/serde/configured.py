"""Turns settings into the registry that serdes ask."""

from __future__ import annotations

from brookmere.config import Config
from brookmere.serde.registered import Registry


def registry_of(config: Config) -> Registry | None:
    """Return the registry of serdes that name none: the setting schema.registry.url."""
    if config.schema_registry_url is None:
        return None
    user, colon, password = (config.basic_auth_user_info or "").partition(":")
    return Registry(config.schema_registry_url, basic_auth=(user, password) if colon else None)
