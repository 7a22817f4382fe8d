"""The Processor API: processors, their context, and the stores they declare."""

from __future__ import annotations

from brookmere.dsl.processors.state_stores import (
    StoreBuilder,
    key_value_store,
    session_store,
    versioned_store,
    window_store,
)
from brookmere.worker.api.context import ProcessorContext, Punctuation
from brookmere.worker.api.processor import FixedKeyProcessor, Processor
from brookmere.worker.protocol.stage_code import TaskId

__all__ = [
    "FixedKeyProcessor",
    "Processor",
    "ProcessorContext",
    "Punctuation",
    "StoreBuilder",
    "TaskId",
    "key_value_store",
    "session_store",
    "versioned_store",
    "window_store",
]
