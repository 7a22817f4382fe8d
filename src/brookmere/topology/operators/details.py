"""Phrases that several operators use in what `explain` shows of them."""

from __future__ import annotations

from collections.abc import Mapping

from brookmere.topology.durations import duration_text


def idle(ms: int | None) -> list[str]:
    """Say after which time without records windows close; nothing if they do not."""
    return [] if ms is None else [f"closed when idle for {duration_text(ms)}"]


def corrections(chosen: Mapping[str, bool]) -> list[str]:
    """Name the corrections of Kafka Streams' behaviour that a program has chosen."""
    return [f"corrected {name}" for name, is_chosen in chosen.items() if is_chosen]
