"""Corrections: behaviours of Kafka Streams that a program can turn off."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal as OneOf
from typing import get_args

from brookmere.errors import Fault, TopologyError
from brookmere.names import nearest
from brookmere.topology.durations import refuse
from brookmere.topology.function import here

Correction = OneOf[
    "join-late-records",
    "join-unmatched-out-of-order",
    "table-join-late-records",
    "window-null-values",
    "window-close-jumps",
]
"""The behaviours of Kafka Streams that can be corrected; docs/reference/compatibility.md describes each."""

ALL: tuple[Correction, ...] = get_args(Correction)


def corrections_of(names: str | Iterable[str]) -> frozenset[Correction]:
    """Return the named corrections; "all" means every one of them."""
    if not isinstance(names, Iterable):
        refuse(f"corrections are names, found {names!r}", 'Pass a sequence of names, or "all"')
    words = [names] if isinstance(names, str) else list(names)
    faults = [_unknown(word) for word in words if word not in (*ALL, "all")]
    if faults:
        raise TopologyError(faults)
    return frozenset(name for name in ALL if name in words or "all" in words)


def _unknown(word: object) -> Fault:
    similar = nearest(str(word), (*ALL, "all"))
    remedy = f"Did you mean {similar!r}?" if similar else f"Use all, or {', '.join(ALL)}"
    return Fault(f"There is no correction {word!r}", str(here()), remedy)
