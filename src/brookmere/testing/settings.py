"""Checks of the driver's settings; errors suggest the nearest known name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from brookmere.errors import ConfigError
from brookmere.names import nearest
from brookmere.topology.nodes import SourceNode, Topology


def partition_counts(topology: Topology, partitions: int | Mapping[str, int]) -> dict[str, int]:
    """Return the number of partitions of each input topic: one by default."""
    sources = [n for n in topology.nodes if isinstance(n, SourceNode) and not n.internal]
    topics = [topic for node in sources for topic in node.topics]
    patterns = [node.pattern for node in sources if node.pattern is not None]
    counts = dict.fromkeys(topics, partitions) if isinstance(partitions, int) else dict(partitions)
    for topic, count in counts.items():
        if topic not in topics and not any(re.fullmatch(pattern, topic) for pattern in patterns):
            raise ConfigError(unknown("input topic", topic, topics))
        if count < 1:
            raise ConfigError(f"A topic needs at least one partition; found {count} for {topic!r}.")
    return {**dict.fromkeys(topics, 1), **counts}


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Return the message about a name that the topology does not have."""
    names = list(known)
    close = nearest(name, names)
    hint = f"Did you mean {close!r}?" if close else f"Known names: {', '.join(names) or 'none'}."
    return f"The topology has no {what} {name!r}. {hint}"
