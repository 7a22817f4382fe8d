"""Which names Kafka accepts, and the known name nearest to a misspelt one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

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
        return "it contains a character other than ASCII letters and digits, '.', '_' and '-'"
    return None


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that `name` most likely means, or None.

    >>> nearest("ofset", ["offset", "partition"])
    'offset'
    """
    folded: dict[str, str] = {}
    for candidate in known:
        folded.setdefault(candidate.casefold(), candidate)
    matches = difflib.get_close_matches(name.casefold(), folded, n=1)
    return folded[matches[0]] if matches else None
