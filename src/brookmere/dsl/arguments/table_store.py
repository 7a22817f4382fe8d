"""Tables with history or a time to live."""

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

    A table with history or a time to live always has a store, others only if it is named.
    """
    if ttl is not None:
        if history is not None:
            refuse("A table cannot have both history= and ttl=", "Remove one of them")
        return store, TableSource(store.name, ttl_ms=milliseconds("ttl of a table", ttl, least=1))
    if history is None:
        return store, TableSource(store.name if store.queryable else None)
    kept = replace(store, kind="versioned", retention_ms=milliseconds("history of a table", history))
    return kept, TableSource(kept.name, versioned=True)
