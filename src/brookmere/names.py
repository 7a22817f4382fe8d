"""Tells which names Kafka takes."""

from __future__ import annotations

import re

_LONGEST = 249
_LEGAL = re.compile(r"[a-zA-Z0-9._-]*", re.ASCII)


def illegal(name: str) -> str | None:
    """Return why Kafka refuses `name` for a topic, a store, an operator or an application, or None."""
    if not name:
        return "it is empty"
    if name in (".", ".."):
        return "it is reserved"
    if len(name) > _LONGEST:
        return f"it is longer than {_LONGEST} characters"
    if not _LEGAL.fullmatch(name):
        return "it has a character other than ASCII letters and digits, '.', '_' and '-'"
    return None
