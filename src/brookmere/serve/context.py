"""What the routes of an API share."""

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
"""Returns the status of the application as a dataclass or a mapping, or None if it is unknown."""


@dataclass(frozen=True, slots=True)
class Served:
    """A replica and its application."""

    replica: Replica
    status: StatusReader
    topology: Topology | None
    peers: Peers | None
    streams: Streams
    requests: Counter[int] = field(default_factory=Counter)
    """The number of responses by status."""
    started_at: int = field(default_factory=now_ms)
    """In milliseconds since 1970."""
