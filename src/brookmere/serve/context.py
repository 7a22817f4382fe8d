"""Holds what an API answers from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from brookmere.serve.answers.event_streams import Streams
from brookmere.state import Replica
from brookmere.state.replica.peers import Peers
from brookmere.topics.times import now_ms
from brookmere.topology.nodes import Topology

StatusReader = Callable[[], Any]
"""Returns a dataclass or a mapping that says how the application is, or None where nothing is known."""


@dataclass(frozen=True, slots=True)
class Served:
    """A replica, and what is known about its application."""

    replica: Replica
    status: StatusReader
    topology: Topology | None
    peers: Peers | None
    streams: Streams
    requests: Counter[int] = field(default_factory=Counter)
    """How many requests were answered, by status."""
    started_at: int = field(default_factory=now_ms)
    """In milliseconds since 1970."""
