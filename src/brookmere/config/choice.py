"""Checks options that are one of a few words."""

from __future__ import annotations

from collections.abc import Sequence

from brookmere.errors import ConfigError
from brookmere.names import nearest


def check_choice(name: str, found: object, known: Sequence[str]) -> None:
    """Refuse an unknown word and suggest the nearest one."""
    if found in known:
        return
    close = nearest(found, known) if isinstance(found, str) else None
    hint = f"Did you mean {close!r}?" if close else f"Use one of: {', '.join(known)}."
    raise ConfigError(f"There is no {name}={found!r}. {hint}")
