"""The identity of a compiled program, with the form of each of its stores."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.types import _parse_datatype_json_string

from brookmere.plan.lineage import lineages
from brookmere.run.compile.compiler import Compiled
from brookmere.run.evolution.identity import Identity, StoreForm, is_copy


def identity_of(
    compiled: Compiled, session: SparkSession, topics: Mapping[str, str], directory: Path
) -> Identity:
    """Return the identity; `topics` are the ids of the topics that the application reads or has read."""
    planned = compiled.plan
    jvm: Any = session._jvm
    kept = {store.name: store for store in planned.topology.stores}
    origins = lineages(planned)
    stores: dict[str, StoreForm] = {}
    copies: dict[str, tuple[int, ...]] = {}
    found = jvm.org.apache.spark.sql.brookmere.Assembly.stores(compiled.program)
    for name, kind, key, value, stage, *groups in ([str(part) for part in store] for store in found):
        if name not in kept and is_copy(name):
            copies[name] = (*copies.get(name, ()), int(stage))
            continue
        # An operator may have further stores in addition to the one it was given.
        owner = max((known for known in kept if name == known or name.startswith(f"{known}-")), key=len)
        origin = origins[owner]
        shape, retention, timed, sub = groups or ("", "", "", "")
        stores[name] = StoreForm(
            stage=int(stage),
            kind=kind,
            key=_type(key),
            value=_type(value),
            holds=kept[owner].kind + name.removeprefix(owner),
            retention=int(retention) if retention else None,
            timed=timed == "true",
            rows=f"{shape} {_type(sub)}" if sub else shape,
            operator=origin.operator,
            windows=origin.windows,
            topics=origin.topics,
            partitions=origin.partitions,
            clocks=origin.clocks,
            print=origin.print,
            is_global=kept[owner].is_global,
        )
    return Identity(
        application=planned.topology.application_id,
        topics=topics,
        partitions=planned.partitions,
        stages=len(planned.chains) - 1,
        stores=stores,
        copies=copies,
        tasks=planned.tasks,
        place=str(directory.resolve()),
    )


def _type(text: str) -> str:
    return str(_parse_datatype_json_string(text).simpleString())
