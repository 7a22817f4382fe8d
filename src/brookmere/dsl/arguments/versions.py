"""Turns the store of a table into one that keeps what the rows were, or that forgets old rows."""

from __future__ import annotations

from dataclasses import replace

from brookmere.dsl.arguments.checks import refuse
from brookmere.topology.durations import Duration, milliseconds
from brookmere.topology.nodes import Store
from brookmere.topology.operators import TableSource


def table_store(
    store: Store, history: Duration | None, ttl: Duration | None = None
) -> tuple[Store, TableSource]:
    """Return the store of a table and the operator that fills it.

    A table with history or with a time to live is always kept, others only if their store has a name.
    """
    if ttl is not None:
        if history is not None:
            refuse("A table has history= or ttl=, not both", "Leave one of them out")
        return store, TableSource(store.name, ttl_ms=milliseconds("ttl of a table", ttl, least=1))
    if history is None:
        return store, TableSource(store.name if store.queryable else None)
    kept = replace(store, kind="versioned", retention_ms=milliseconds("history of a table", history))
    return kept, TableSource(kept.name, versioned=True)
