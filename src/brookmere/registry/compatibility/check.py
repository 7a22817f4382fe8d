"""Turns a pair of schemas of the same format into the reasons why one cannot read what the other wrote."""

from __future__ import annotations

from brookmere.registry.formats import Parsed


def differences(*, reader: Parsed, writer: Parsed) -> list[str]:
    """Return why `reader` cannot read data of `writer`, or nothing."""
    return []
