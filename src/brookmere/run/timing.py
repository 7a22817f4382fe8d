"""Turns what a program says about time into the kernel's words."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from brookmere.run.columns import RECORD, column
from brookmere.topology.function import Function
from brookmere.topology.nodes import SourceNode
from brookmere.topology.times import RecordClock

_WALL = "wall-clock"


def source_time(session: SparkSession, node: SourceNode, key: Any, value: Any, default: str) -> Any:
    """Return the kernel's extractor of a source whose key and value these readers read.

    `default` is what the setting default.timestamp.extractor says.
    """
    jvm: Any = session._jvm
    time = node.timestamp
    # Every task reads a global table in full, whenever it was written: it has no time of its own.
    by_default = time is None and default == _WALL and not node.is_global
    is_wall = time is RecordClock.WALL or by_default
    on_invalid = node.on_invalid_timestamp or ("fail" if default == _WALL else default)
    extract = column(time, RECORD)._jc if isinstance(time, Function) else None
    return jvm.brookmere.kernel.program.SourceTime.of(
        session._jsparkSession, key, value, extract, is_wall, on_invalid
    )
