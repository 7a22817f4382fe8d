"""The DSL: handles whose methods each add a step to the program's graph."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from brookmere.dsl.aggregates.cogrouped import CogroupedKStream
    from brookmere.dsl.aggregates.grouped import KGroupedStream
    from brookmere.dsl.aggregates.grouped_table import KGroupedTable
    from brookmere.dsl.aggregates.windowed import WindowedKStream
    from brookmere.dsl.aggregates.windowed_cogrouped import WindowedCogroupedKStream
    from brookmere.dsl.branched import BranchedKStream
    from brookmere.dsl.stream import KStream
    from brookmere.dsl.table import GlobalKTable, KTable

__all__ = [
    "BranchedKStream",
    "CogroupedKStream",
    "GlobalKTable",
    "KGroupedStream",
    "KGroupedTable",
    "KStream",
    "KTable",
    "WindowedCogroupedKStream",
    "WindowedKStream",
]

# The handles import each other's modules, so this package must not import them eagerly.
_HANDLES = {
    "BranchedKStream": "branched",
    "CogroupedKStream": "aggregates.cogrouped",
    "GlobalKTable": "table",
    "KGroupedStream": "aggregates.grouped",
    "KGroupedTable": "aggregates.grouped_table",
    "KStream": "stream",
    "KTable": "table",
    "WindowedCogroupedKStream": "aggregates.windowed_cogrouped",
    "WindowedKStream": "aggregates.windowed",
}


def __getattr__(name: str) -> object:
    if name not in _HANDLES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HANDLES[name]}"), name)
