"""What sets of topics share, in a directory and in Kafka: lookup by name, producers and errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from datetime import timedelta

from brookmere.durations import Duration
from brookmere.errors import TopicError, UnknownTopicError
from brookmere.names import illegal, nearest
from brookmere.serde import Serde
from brookmere.topics.any_topics import AnyTopic
from brookmere.topics.producer import Producer


class TopicSet(ABC):
    """Topics by name, embedded or in Kafka."""

    @abstractmethod
    def names(self) -> list[str]:
        """Return the names of all topics, sorted."""

    @abstractmethod
    def __getitem__(self, name: str) -> AnyTopic: ...

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def producer(
        self,
        name: str,
        *,
        key: Serde | None = None,
        value: Serde | None = None,
        linger: Duration = timedelta(0),
    ) -> Producer:
        """Return a producer that uses these serdes for keys and values; without a serde they are bytes."""
        return Producer(self[name], key, value, linger=linger)

    def _unknown(self, name: str, where: str, command: Callable[[str], str]) -> UnknownTopicError:
        """Return the error for an unknown topic; `command` returns the command for `create x` and `list`."""
        meant = nearest(name, self.names())
        hint = f"Did you mean {meant!r}? " if meant else ""
        return UnknownTopicError(
            f"There is no topic {name!r} {where}. {hint}"
            f"`{command(f'create {name}')}` creates it; `{command('list')}` lists the existing topics."
        )


def check_name(name: str) -> None:
    """Raise a TopicError if this is not a valid topic name."""
    if illegal(name) is not None:
        raise TopicError(
            f"{name!r} is not a valid topic name. "
            "Use up to 249 letters, digits, dots, underscores and hyphens, and not only . or .. ."
        )


def check_new(name: str, partitions: int) -> None:
    """Raise a TopicError if a topic with this name and number of partitions cannot be created."""
    check_name(name)
    if isinstance(partitions, bool) or not isinstance(partitions, int) or partitions < 1:
        raise TopicError(
            f"The topic {name!r} cannot be created with {partitions!r} partitions: it needs at least 1."
        )
