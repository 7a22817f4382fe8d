"""Positions: how far each topic is covered by what was read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

Offsets = Mapping[int, int]
"""By partition, the offset after the last covered record."""


class Position(Mapping[str, Offsets]):
    """Offsets by topic and partition: each is the one after the last covered record.

    >>> Position({"views": {0: 17}}).covers({"views": {0: 12}})
    True
    """

    __slots__ = ("_topics",)

    def __init__(self, topics: Mapping[str, Offsets] | None = None) -> None:
        checked = {topic: _checked(topic, offsets) for topic, offsets in (topics or {}).items()}
        self._topics = MappingProxyType(checked)

    @classmethod
    def from_json(cls, text: str) -> Position:
        """Read what `to_json` wrote; raise ValueError if it is not a position."""
        found: Any = json.loads(text)
        if not isinstance(found, dict) or not all(isinstance(part, dict) for part in found.values()):
            raise ValueError('a position is an object such as {"views": {"0": 17}}')
        return cls({topic: {_number(p): at for p, at in part.items()} for topic, part in found.items()})

    def to_json(self) -> str:
        """Return the position as JSON, by topic and partition."""
        return json.dumps({topic: {str(p): at for p, at in part.items()} for topic, part in self.items()})

    def merged(self, other: Mapping[str, Offsets]) -> Position:
        """Return the position that covers both."""
        topics = {topic: dict(offsets) for topic, offsets in self.items()}
        for topic, offsets in other.items():
            own = topics.setdefault(topic, {})
            for partition, at in offsets.items():
                own[partition] = max(at, own.get(partition, 0))
        return Position(topics)

    def covers(self, other: Mapping[str, Offsets]) -> bool:
        """Return whether this position includes everything up to `other`."""
        return all(
            self.get(topic, {}).get(partition, 0) >= at
            for topic, offsets in other.items()
            for partition, at in offsets.items()
        )

    def __getitem__(self, topic: str) -> Offsets:
        return self._topics[topic]

    def __iter__(self) -> Iterator[str]:
        return iter(self._topics)

    def __len__(self) -> int:
        return len(self._topics)

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __repr__(self) -> str:
        return f"Position({ {topic: dict(offsets) for topic, offsets in self.items()} })"


def _checked(topic: str, offsets: Offsets) -> Offsets:
    for number in (*offsets, *offsets.values()):
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise ValueError(f"partitions and offsets of {topic!r} are integers from 0, found {number!r}")
    return MappingProxyType(dict(sorted(offsets.items())))


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"a partition is an integer, found {text!r}")
    return int(text)
